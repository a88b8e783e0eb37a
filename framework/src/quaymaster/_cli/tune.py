"""``quaymaster tune``."""

import sys
from pathlib import Path

import click

from quaymaster._cli.experiment_options import OUT, WORKERS, schema_option
from quaymaster._cli.progress import ProgressBar, progress_bar
from quaymaster._cli.tune_results import print_tuning
from quaymaster._studies.tuning.load import load_tuning
from quaymaster._studies.tuning.schema import tuning_schema
from quaymaster._studies.tuning.trials import Trial
from quaymaster._studies.tuning.tuned import TuneProgressFn, tune
from quaymaster._studies.tuning.tuning import Tuning

__all__ = ["command"]

NOTHING_FOUND = 1


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
    print_tuning(result)
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
