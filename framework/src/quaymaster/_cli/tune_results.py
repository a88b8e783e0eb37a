"""Prints the results of tunings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.output import print_line, print_table, warn
from quaymaster._studies.comparing.estimates import Estimate
from quaymaster._studies.tuning.judging import Contender, mean_text
from quaymaster._studies.tuning.trials import TrialOutcome
from quaymaster._studies.tuning.tuned import TuneResult

__all__ = ["print_tuning", "print_tuning_csv"]

_SHOWN: Final = 3
_KEYS: Final = ("profile", "trial", "objective", "tuned", "heldOut")


def print_tuning(result: TuneResult) -> None:
    """Print the evaluated profiles, and how the found ones differ from the others."""
    failed = [trial for trial in result.trials if trial.outcome is TrialOutcome.FAILED]
    for failure in failed[:_SHOWN]:
        warn(f"failed: trial {failure.number}: {failure.cause}")
    for name, cause in result.judged.failed.items():
        warn(f"failed: {name}: {cause}")
    for warning in result.warnings:
        warn(f"warning: {warning}")
    pruned = sum(trial.outcome is TrialOutcome.PRUNED for trial in result.trials)
    print_line(
        f"{counted(len(result.trials), 'trial')}: {pruned} given up early, "
        f"{len(failed)} failed; {counted(result.made, 'run')} made"
    )
    metrics = [objective.metric for objective in result.objectives]
    heads = [f"{name}, {where}" for name in metrics for where in ("tuned", "held out")]
    print_table(
        ["PROFILE", *(head.upper() for head in heads)], map(_row, _contenders(result))
    )
    for contender, file in zip(result.judged.found, result.files, strict=True):
        print_line()
        print_line(f"{contender.name}: {_fields(contender)}: {file}")
        for difference in contender.differences:
            print_line(f"  {difference}")


def print_tuning_csv(result: TuneResult) -> None:
    """Print a line of CSV for each evaluated profile and objective."""
    print_csv(
        [
            {
                "profile": contender.name,
                "trial": contender.trial.number if contender.trial else None,
                "objective": objective.metric,
                "tuned": _numbers(tuned),
                "heldOut": _numbers(held_out),
            }
            for contender in _contenders(result)
            for objective, tuned, held_out in zip(
                result.objectives, contender.tuned, contender.held_out, strict=True
            )
        ],
        _KEYS,
    )


def _contenders(result: TuneResult) -> Sequence[Contender]:
    return (*result.judged.known, *result.judged.found)


def _row(contender: Contender) -> Sequence[str]:
    pairs: Iterator[tuple[Estimate, Estimate]] = zip(
        contender.tuned, contender.held_out, strict=True
    )
    return [contender.name, *(mean_text(each) for pair in pairs for each in pair)]


def _numbers(estimate: Estimate) -> Mapping[str, float | None]:
    return {"mean": estimate.mean, "halfWidth": estimate.half_width}


def _fields(contender: Contender) -> str:
    fields = contender.trial.fields if contender.trial else {}
    return ", ".join(f"{name} {value}" for name, value in fields.items())
