"""``quaymaster tune``."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from quaymaster._base.errors import counted
from quaymaster._cli.experiment_options import OUT, WORKERS, schema_option
from quaymaster._cli.output import (
    print_line,
    print_table,
    warn,
)
from quaymaster._cli.progress import ProgressBar, progress_bar
from quaymaster._studies.comparing.estimates import Estimate
from quaymaster._studies.tuning.judging import Contender, mean_text
from quaymaster._studies.tuning.load import load_tuning
from quaymaster._studies.tuning.schema import tuning_schema
from quaymaster._studies.tuning.trials import Trial, TrialOutcome
from quaymaster._studies.tuning.tuned import TuneProgressFn, TuneResult, tune
from quaymaster._studies.tuning.tuning import Tuning

__all__ = ["command"]

NOTHING_FOUND = 1
_SHOWN = 3


@click.command("tune")
@click.argument("file", metavar="FILE", type=click.Path())
@OUT
@WORKERS
@schema_option(
    tuning_schema,
    "Print the JSON Schema of tuning files, for editors, without a search.",
)
def command(file: str, folder: str | None, workers: int | None) -> None:
    """Search the weights and arguments of a profile that serve an objective best.

    FILE names an experiment, the profile, the parameters to tune, the objectives, and
    the held-out runs. The best profiles are evaluated on these, beside the original
    profile and the other profiles of the experiment, and written as configurations. The
    exit code is 1 if no profile is better than the original.
    """
    # As with a script, the file can name modules next to it.
    sys.path.insert(0, str(Path(file).resolve().parent))
    tuning = load_tuning(file)
    out = f"{tuning.name}-results" if folder is None else folder
    with progress_bar("trials") as progress:
        result = tune(
            tuning, out, workers=workers, on_trial=_showing_in(progress, tuning)
        )
    _print(tuning, result)
    if not result.is_progress:
        sys.exit(NOTHING_FOUND)


def _showing_in(progress: ProgressBar, tuning: Tuning) -> TuneProgressFn:
    task = progress.add_task("", total=tuning.trials)

    def update(trial: Trial) -> None:
        values = ", ".join(f"{value:.4g}" for value in trial.values)
        progress.update(
            task, completed=trial.number + 1, description=values or trial.outcome.value
        )

    return update


def _print(tuning: Tuning, result: TuneResult) -> None:
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
    metrics = [objective.metric for objective in tuning.objectives]
    heads = [f"{name}, {where}" for name in metrics for where in ("tuned", "held out")]
    contenders = (*result.judged.known, *result.judged.found)
    print_table(["PROFILE", *(head.upper() for head in heads)], map(_row, contenders))
    for contender, file in zip(result.judged.found, result.files, strict=True):
        print_line()
        print_line(f"{contender.name}: {_fields(contender)}: {file}")
        for difference in contender.differences:
            print_line(f"  {difference}")


def _row(contender: Contender) -> Sequence[str]:
    pairs: Iterator[tuple[Estimate, Estimate]] = zip(
        contender.tuned, contender.held_out, strict=True
    )
    return [contender.name, *(mean_text(each) for pair in pairs for each in pair)]


def _fields(contender: Contender) -> str:
    fields = contender.trial.fields if contender.trial else {}
    return ", ".join(f"{name} {value}" for name, value in fields.items())
