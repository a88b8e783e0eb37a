"""Does a tuning, and says what came of it."""

import importlib.util
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import attrs

from quaymaster._base.errors import Problem
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.workers import usable_processors
from quaymaster._studies.tuning.evidence import write_found, write_summary, write_trials
from quaymaster._studies.tuning.judging import Contender, Judged, judge
from quaymaster._studies.tuning.runs import Runs
from quaymaster._studies.tuning.trials import Trial
from quaymaster._studies.tuning.tuning import Tuning

__all__ = ["TuneProgressFn", "TuneResult", "tune"]

TuneProgressFn: TypeAlias = Callable[[Trial], None]
"""Is called with each trial when it has ended."""


@attrs.frozen(kw_only=True)
class TuneResult:
    """What came of a tuning.

    Attributes:
        folder: Where the results are.
        trials: What was tried, in order.
        judged: What was found, beside the profiles of the experiment.
        files: The configurations that were found, in the order of ``judged.found``.
        made: How many runs were made now.
    """

    folder: Path
    trials: Sequence[Trial] = attrs.field(repr=False)
    judged: Judged
    files: Sequence[Path]
    made: int

    @property
    def is_progress(self) -> bool:
        """Whether something that was found is better than the profile as it was.

        On held-out runs, with certainty, in an objective at least, and worse in none.
        """
        return any(map(_is_better, self.judged.found))


def tune(
    tuning: Tuning,
    folder: str | PathLike[str],
    *,
    workers: int | None = None,
    on_trial: TuneProgressFn | None = None,
) -> TuneResult:
    """Search fields of a profile, and judge what is found on runs that are held out.

    It may be ended at any moment and called again: runs that are done are not made
    again, and the search goes the same way. A script that calls it needs the line
    ``if __name__ == "__main__":``, since runs are made in processes of their own.

    The folder gets a configuration for each that was found, with its evidence in
    comments; ``trials.csv``, what was tried; and ``tuning.json``, what it came to.

    Args:
        tuning: The tuning.
        folder: Where the results go.
        workers: How many processes on this machine; by default one for each processor.
        on_trial: Called with each trial when it has ended.

    Raises:
        ExperimentErrors: A library is missing, a file cannot be read, an objective is
            not measured, or no trial has a result.
    """
    if importlib.util.find_spec("optuna") is None:
        message = "needs optuna: pip install 'quaymaster[tune]'"
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
    )


def _is_better(contender: Contender) -> bool:
    base = contender.differences[0].against if contender.differences else ""
    verdicts = [each.verdict for each in contender.differences if each.against == base]
    return "better" in verdicts and "worse" not in verdicts
