"""Judges configurations on runs that the search has not seen."""

from collections.abc import Mapping, Sequence

import attrs

from quaymaster._studies.comparing.estimates import Estimate, estimate
from quaymaster._studies.experiments.experiment import Part
from quaymaster._studies.tuning.runs import FailedRunError, Runs
from quaymaster._studies.tuning.trials import Trial
from quaymaster._studies.tuning.tuning import Objective, Tuning

__all__ = ["Contender", "HeldOutDifference", "Judged", "judge", "told"]


@attrs.frozen(kw_only=True)
class HeldOutDifference:
    """How two configurations differ in one objective, on the runs that were held out.

    Attributes:
        objective: The objective.
        against: The name of the other configuration.
        estimate: The mean of what this one has more than the other, run by run.
    """

    objective: Objective
    against: str
    estimate: Estimate

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, or ``no difference`` that is certain."""
        if not self.estimate.is_certain:
            return "no difference"
        has_more = self.estimate.mean > 0
        return "better" if has_more == self.objective.is_more_better else "worse"

    def __str__(self) -> str:
        sign = "+" if self.estimate.mean >= 0 else ""
        return (
            f"held out, {self.objective.metric} than {self.against}: "
            f"{sign}{told(self.estimate)}: {self.verdict}"
        )


@attrs.frozen(kw_only=True)
class Contender:
    """A configuration, and what it came to.

    Attributes:
        name: What it is called: the name of a profile, or of the tuned one with a
            number if there are several.
        profile: The configuration.
        trial: The trial that it comes from; None for a profile of the experiment.
        tuned: For each objective the mean over the runs of the search.
        held_out: For each objective the mean over the runs that were held out.
        differences: From the tuned profile as it was, and from its rivals; of a trial
            only.
    """

    name: str
    profile: Part = attrs.field(repr=False)
    trial: Trial | None = None
    tuned: Sequence[Estimate]
    held_out: Sequence[Estimate]
    differences: Sequence[HeldOutDifference] = ()


@attrs.frozen(kw_only=True)
class Judged:
    """All contenders: the profiles of the experiment, and what the search has found.

    Attributes:
        known: The tuned profile as it was, and its rivals.
        found: The configurations that the search has found.
        failed: Profile -> why it could not be measured.
    """

    known: Sequence[Contender]
    found: Sequence[Contender]
    failed: Mapping[str, str]


def judge(tuning: Tuning, runs: Runs, best: Sequence[Trial]) -> Judged:
    """Judge what the search has found beside the profiles of the experiment.

    Args:
        tuning: The tuning.
        runs: Makes the runs.
        best: The trials that the search has found best.

    Raises:
        ExperimentErrors: The experiment does not measure an objective.
    """
    known: list[Contender] = []
    failed: dict[str, str] = {}
    values: dict[str, Sequence[Sequence[float]]] = {}
    for profile in (tuning.profile, *tuning.rivals):
        name = _name_of(profile)
        try:
            values[name] = runs.all(tuning.held_out_cells(profile))
            tuned = _estimates(runs.all(tuning.cells(profile)))
        except FailedRunError as error:
            failed[name] = str(error)
            values.pop(name, None)
            continue
        held_out = _estimates(values[name])
        known.append(
            Contender(name=name, profile=profile, tuned=tuned, held_out=held_out)
        )
    found: list[Contender] = []
    for place, trial in enumerate(best, 1):
        profile = tuning.candidate(trial.fields)
        name = "tuned" if len(best) == 1 else f"tuned {place}"
        try:
            own = runs.all(tuning.held_out_cells(profile))
        except FailedRunError as error:
            failed[name] = str(error)
            continue
        found.append(
            Contender(
                name=name,
                profile=profile,
                trial=trial,
                tuned=_estimates(runs.all(tuning.cells(profile))),
                held_out=_estimates(own),
                differences=[
                    HeldOutDifference(objective=one, against=other, estimate=difference)
                    for other, theirs in values.items()
                    for one, difference in zip(
                        tuning.objectives, _differences(own, theirs), strict=True
                    )
                ],
            )
        )
    return Judged(known=known, found=found, failed=failed)


def told(one: Estimate) -> str:
    """A mean with its interval, in as many digits as people read."""
    if one.half_width is None:
        return f"{one.mean:.4g}"
    return f"{one.mean:.4g} ± {one.half_width:.2g}"


def _name_of(profile: Part) -> str:
    told = ", ".join(f"{name} {value}" for name, value in profile.values.items())
    return f"{profile.name} ({told})" if told else profile.name


def _estimates(found: Sequence[Sequence[float]]) -> Sequence[Estimate]:
    return [estimate(column) for column in zip(*found, strict=True)]


def _differences(
    own: Sequence[Sequence[float]], others: Sequence[Sequence[float]]
) -> Sequence[Estimate]:
    pairs = zip(own, others, strict=True)
    return _estimates([[a - b for a, b in zip(*pair, strict=True)] for pair in pairs])
