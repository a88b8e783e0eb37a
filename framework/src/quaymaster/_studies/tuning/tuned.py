"""Runs a tuning, and returns its result."""

import importlib.util
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._base.errors import Problem
from quaymaster._base.missing_packages import not_installed
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.workers import usable_processors
from quaymaster._studies.tuning.evidence import write_found, write_summary, write_trials
from quaymaster._studies.tuning.judging import Contender, Judged, judge
from quaymaster._studies.tuning.runs import Runs
from quaymaster._studies.tuning.trials import Trial
from quaymaster._studies.tuning.tuning import Objective, Tuning

__all__ = ["TuneProgressFn", "TuneResult", "tune"]

TuneProgressFn: TypeAlias = Callable[[Trial], None]
"""Called with each trial when it has ended."""


@attrs.frozen(kw_only=True)
class TuneResult(Tabular):
    """The result of a tuning.

    Attributes:
        folder: The folder of the results.
        trials: The trials, in order.
        judged: The evaluated configurations and profiles.
        files: The files of the best configurations, in the order of ``judged.found``.
        made: How many runs were made now.
        warnings: What the objectives leave out.
        objectives: The objectives, in the order of each contender's estimates.
    """

    folder: Path
    trials: Sequence[Trial] = attrs.field(repr=False)
    judged: Judged
    files: Sequence[Path]
    made: int
    warnings: Sequence[str] = ()
    objectives: Sequence[Objective] = ()

    @property
    def is_progress(self) -> bool:
        """Whether a found configuration is better than the original profile.

        It must be better in at least one objective and worse in none, with certainty,
        on held-out runs.
        """
        return any(map(_is_better, self.judged.found))


def tune(
    tuning: Tuning,
    folder: str | PathLike[str],
    *,
    workers: int | None = None,
    on_trial: TuneProgressFn | None = None,
) -> TuneResult:
    """Search the best fields of a profile, and evaluate them on held-out runs.

    It may be ended at any moment and called again: finished runs are not repeated, and
    the search takes the same course. A script that calls it needs the line ``if
    __name__ == "__main__":``, since runs are made in separate processes.

    It writes each best configuration with its evidence in comments; ``trials.csv`` with
    all trials; and ``tuning.json`` with the results.

    Args:
        tuning: The tuning.
        folder: The folder of the results.
        workers: How many processes to use on this machine; by default one per
            processor.
        on_trial: Called with each trial when it has ended.

    Raises:
        ExperimentErrors: A library is missing, a file cannot be read, an objective is
            not measured, or no trial has a result.
    """
    if importlib.util.find_spec("optuna") is None:
        message = not_installed(["optuna"], "tune")
        raise ExperimentErrors([Problem(where="tune", message=message)])
    # Needs the extra `tune`.
    from quaymaster._studies.tuning.search import search  # noqa: PLC0415

    place = Path(folder)
    runs = Runs(tuning, place, usable_processors() if workers is None else workers)
    trials, best = search(tuning, runs, on_trial or (lambda _: None))
    write_trials(tuning, trials, place)
    if not best:
        cause = next(
            (trial.cause for trial in trials if trial.cause), "all were given up"
        )
        message = f"none of {len(trials)} trials has a result; the first:"
        # A configuration may have several mistakes, one in a line.
        lines = [message, *cause.splitlines()]
        raise ExperimentErrors(
            [Problem(where=tuning.file, message=line) for line in lines]
        )
    judged = judge(tuning, runs, best)
    write_summary(tuning, judged, place)
    return TuneResult(
        folder=place,
        trials=trials,
        judged=judged,
        files=write_found(tuning, judged, trials, place),
        made=runs.made,
        warnings=runs.leaving_out.warnings(),
        objectives=tuning.objectives,
    )


def _is_better(contender: Contender) -> bool:
    base = contender.differences[0].against if contender.differences else ""
    verdicts = [each.verdict for each in contender.differences if each.against == base]
    return "better" in verdicts and "worse" not in verdicts
