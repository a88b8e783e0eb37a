"""Evaluates configurations on runs that the search has not used."""

from collections.abc import Mapping, Sequence

import attrs

from quaymaster._studies.comparing.estimates import Estimate, estimate
from quaymaster._studies.experiments.experiment import Part
from quaymaster._studies.tuning.runs import FailedRunError, Runs
from quaymaster._studies.tuning.trials import Trial
from quaymaster._studies.tuning.tuning import Objective, Tuning

__all__ = ["Contender", "HeldOutDifference", "Judged", "judge", "mean_text"]


@attrs.frozen(kw_only=True)
class HeldOutDifference:
    """The difference of two configurations in one objective, on held-out runs.

    Attributes:
        objective: The objective.
        against: The name of the other configuration.
        estimate: The mean difference to the other one, run by run.
    """

    objective: Objective
    against: str
    estimate: Estimate

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, or ``no difference`` if none is certain."""
        if not self.estimate.is_certain:
            return "no difference"
        has_more = self.estimate.mean > 0
        return "better" if has_more == self.objective.is_more_better else "worse"

    def __str__(self) -> str:
        sign = "+" if self.estimate.mean >= 0 else ""
        return (
            f"held out, {self.objective.metric} than {self.against}: "
            f"{sign}{mean_text(self.estimate)}: {self.verdict}"
        )


@attrs.frozen(kw_only=True)
class Contender:
    """A configuration and its results.

    Attributes:
        name: Its name: that of a profile, or ``tuned``, with a number if there are
            several.
        profile: The configuration.
        trial: Its trial; None for a profile of the experiment.
        tuned: For each objective the mean over the runs of the search.
        held_out: For each objective the mean over the held-out runs.
        differences: The differences to the original profile and its rivals; only for
            trials.
    """

    name: str
    profile: Part = attrs.field(repr=False)
    trial: Trial | None = None
    tuned: Sequence[Estimate]
    held_out: Sequence[Estimate]
    differences: Sequence[HeldOutDifference] = ()


@attrs.frozen(kw_only=True)
class Judged:
    """All contenders: the profiles of the experiment, and the results of the search.

    Attributes:
        known: The original profile and its rivals.
        found: The best configurations of the search.
        failed: Profile -> why it could not be evaluated.
    """

    known: Sequence[Contender]
    found: Sequence[Contender]
    failed: Mapping[str, str]


def judge(tuning: Tuning, runs: Runs, best: Sequence[Trial]) -> Judged:
    """Evaluate the results of the search and the profiles of the experiment.

    Args:
        tuning: The tuning.
        runs: Makes the runs.
        best: The best trials of the search.

    Raises:
        ExperimentErrors: The experiment does not measure an objective.
    """
    existing: list[Contender] = []
    failed: dict[str, str] = {}
    values: dict[str, Sequence[Sequence[float]]] = {}
    for profile in (tuning.profile, *tuning.rivals):
        name = _name_of(profile)
        try:
            values[name] = runs.all(tuning.held_out_cells(profile))
            tuned = _estimates(runs.all(tuning.cells(profile)))
        except FailedRunError as error:
            failed[name] = str(error)
            # A rival needs both kinds of runs.
            values.pop(name, None)
            continue
        held_out = _estimates(values[name])
        existing.append(
            Contender(name=name, profile=profile, tuned=tuned, held_out=held_out)
        )
    contenders: list[Contender] = []
    for place, trial in enumerate(best, 1):
        profile = tuning.candidate(trial.fields)
        name = "tuned" if len(best) == 1 else f"tuned {place}"
        try:
            own = runs.all(tuning.held_out_cells(profile))
        except FailedRunError as error:
            failed[name] = str(error)
            continue
        contenders.append(
            Contender(
                name=name,
                profile=profile,
                trial=trial,
                tuned=_estimates(runs.all(tuning.cells(profile))),
                held_out=_estimates(own),
                differences=[
                    HeldOutDifference(
                        objective=objective, against=other, estimate=difference
                    )
                    for other, theirs in values.items()
                    for objective, difference in zip(
                        tuning.objectives, _differences(own, theirs), strict=True
                    )
                ],
            )
        )
    return Judged(known=existing, found=contenders, failed=failed)


def mean_text(estimate: Estimate) -> str:
    """Return a mean with its interval, rounded for people."""
    if estimate.half_width is None:
        return f"{estimate.mean:.4g}"
    return f"{estimate.mean:.4g} ± {estimate.half_width:.2g}"


def _name_of(profile: Part) -> str:
    values = ", ".join(f"{name} {value}" for name, value in profile.values.items())
    return f"{profile.name} ({values})" if values else profile.name


def _estimates(values: Sequence[Sequence[float]]) -> Sequence[Estimate]:
    return [estimate(column) for column in zip(*values, strict=True)]


def _differences(
    own: Sequence[Sequence[float]], others: Sequence[Sequence[float]]
) -> Sequence[Estimate]:
    pairs = zip(own, others, strict=True)
    return _estimates([[a - b for a, b in zip(*pair, strict=True)] for pair in pairs])
