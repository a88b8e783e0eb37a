"""``quaymaster sweep``."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from quaymaster._cli.experiment_options import OUT, WORKERS, schema_option
from quaymaster._cli.output import print_line, warn
from quaymaster._cli.pictures import picture_path
from quaymaster._cli.progress import progress_bar
from quaymaster._cli.sweep_progress import showing_in
from quaymaster._cli.sweep_results import print_sweep
from quaymaster._studies.experiments.column_units import Axes, axes_of
from quaymaster._studies.experiments.experiment import Experiment
from quaymaster._studies.experiments.load import load_experiment
from quaymaster._studies.experiments.schema import experiment_schema
from quaymaster._studies.experiments.summary import summarise
from quaymaster._studies.experiments.summary_files import (
    SUMMARY_FORMATS,
    write_summary,
)
from quaymaster._studies.experiments.sweeping import SweepResult, sweep

__all__ = ["command"]

SOME_FAILED = 1


def _shard(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    """Read ``2/8``."""
    if text is None:
        return None
    first, slash, second = text.partition("/")
    if slash and first.isdecimal() and second.isdecimal():
        shard = int(first), int(second)
        if 1 <= shard[0] <= shard[1]:
            return shard
    message = f"expected I/N with I from 1 to N, such as 2/8, got {text!r}"
    raise click.BadParameter(message)


@click.command("sweep")
@click.argument("file", metavar="FILE", type=click.Path())
@OUT
@WORKERS
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    default="",
    help="The Dask scheduler whose workers run simulations, such as "
    "tcp://10.0.0.1:8786, instead of processes on this machine.",
)
@click.option(
    "--verify",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Make every Nth decision a second time with scalar hooks and without caches; "
    "a run fails if anything differs.",
)
@click.option(
    "--check",
    is_flag=True,
    help="First make the first run twice, in processes that order sets differently, "
    "and stop if the results differ.",
)
@click.option(
    "--stop-at-failure", is_flag=True, help="Start no more runs after a failed one."
)
@click.option(
    "--list", "only_list", is_flag=True, help="Print the runs without running them."
)
@click.option(
    "--plot",
    metavar="PATH",
    type=click.Path(),
    help="Draw the means over seeds with 95 % confidence, as .png, .svg or .pdf. "
    "Needs the extra plot.",
)
@click.option(
    "--summary",
    type=click.Choice(list(SUMMARY_FORMATS)),
    help="Write the means, deviations and 95 % intervals, and the paired differences "
    "of profiles, into the folder of the results.",
)
@click.option(
    "--shard",
    metavar="I/N",
    callback=_shard,
    help="Make only every Nth run, from the Ith on, as the tasks of a Slurm array do "
    "that share a folder.",
)
@schema_option(
    experiment_schema,
    "Print the JSON Schema of experiment files, for editors, and make no runs.",
)
def command(
    file: str,
    folder: str | None,
    workers: int | None,
    scheduler: str,
    verify: int,
    check: bool,
    stop_at_failure: bool,
    only_list: bool,
    plot: str | None,
    summary: str | None,
    shard: tuple[int, int] | None,
) -> None:
    """Make all runs of an experiment: inputs x profiles x parameters x seeds.

    FILE defines the runs and the metrics. The results are tables in Parquet and CSV. A
    sweep can be stopped at any time: the same command continues it and skips finished
    runs. The exit code is 1 if a run fails.
    """
    picture = None if plot is None else picture_path(plot)
    # As with a script, the file can name modules next to it.
    sys.path.insert(0, str(Path(file).resolve().parent))
    experiment = load_experiment(file)
    if only_list:
        for cell in experiment.cells:
            print_line(str(cell))
        return
    if check and not _is_repeatable(experiment, verify):
        sys.exit(SOME_FAILED)
    out = Path(file).name.partition(".")[0] + "-results" if folder is None else folder
    with progress_bar("runs") as progress:
        result = sweep(
            experiment,
            out,
            workers=workers,
            scheduler=scheduler,
            verify=verify,
            stop_at_failure=stop_at_failure,
            shard=shard,
            on_progress=showing_in(progress),
        )
    print_sweep(result)
    if summary is not None and result.runs:
        for path in write_summary(summarise(result.runs), result.folder, summary):
            print_line(f"summary: {path}")
    if picture is not None:
        names = (name for _, run in result.runs for name in (*run.values, *run.curves))
        _draw(result, picture, axes_of(experiment, names))
    if result.failed:
        sys.exit(SOME_FAILED)


def _is_repeatable(experiment: Experiment, verify: int) -> bool:
    """Make the first run twice; print what differs."""
    # It starts processes of its own, which few sweeps need.
    from quaymaster._studies.experiments.repeating import check_first_run  # noqa: PLC0415

    result = check_first_run(experiment, verify=verify)
    if result.is_same:
        print_line(f"check: {result.cell}: the same result twice")
        return True
    warn(f"check: {result.cell}: {result.cause}")
    for difference in result.differences:
        warn(f"  {difference}")
    return False


def _draw(result: SweepResult, picture: Path, axes: Mapping[str, Axes]) -> None:
    # Part of the extra `plot`, whose presence picture_path has checked.
    from quaymaster._studies.experiments.plot import draw_sweep  # noqa: PLC0415

    if not result.runs:
        return
    try:
        draw_sweep(result.runs, picture, axes)
    except OSError as error:
        raise click.FileError(str(picture), error.strerror) from error
    print_line(f"picture: {picture}")
