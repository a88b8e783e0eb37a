"""``quaymaster perf``."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence

import attrs
import click
import msgspec

from quaymaster._base.files import write_whole
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._cli.configuration import ConfigSource, config_options, read_config
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_line,
    print_table,
    progress_bar,
    warn,
)
from quaymaster._cli.perf_rows import print_results_csv, print_workloads_csv
from quaymaster._cli.pictures import picture_path
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._studies.perf.against import (
    AGAINST_COLUMNS,
    Compared,
    compare_results,
    read_results,
)
from quaymaster._studies.perf.child import run_apart
from quaymaster._studies.perf.left_out import why_left_out
from quaymaster._studies.perf.load import Workload, find_files, load_workloads
from quaymaster._studies.perf.model import CreateAny, CreatePods
from quaymaster._studies.perf.report import (
    COLUMNS,
    are_all_good,
    as_document,
    is_beaten,
    rows,
    unfinished,
    waits,
)
from quaymaster._studies.perf.runner import DONE, Outcome
from quaymaster._studies.perf.select import select

__all__ = ["command"]

NOT_GOOD = 1

_LABEL = "performance"


@click.command("perf")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--workload",
    "names",
    metavar="NAME/NAME",
    multiple=True,
    help="Run only this workload, test case or pattern. May be repeated.",
)
@click.option(
    "--label",
    "labels",
    metavar="LABEL",
    multiple=True,
    help="Run only workloads with this label, or after a - without. May be repeated. "
    f"[default: {_LABEL}, unless --workload is given]",
)
@click.option(
    "--list", "only_list", is_flag=True, help="Print the workloads, run none."
)
@config_options(is_simulated=True)
@click.option(
    "--seed",
    metavar="N",
    default=0,
    help="Decides the choice between equally good nodes, and generated names.",
)
@click.option(
    "--verify",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Make every Nth decision a second time with scalar hooks and without caches, "
    "allocate the devices of its claims again, and stop if anything differs. This "
    "takes measured time.",
)
@click.option(
    "--repeat",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    help="Run all workloads this many times.",
)
@click.option(
    "--against",
    "against_file",
    metavar="FILE",
    type=click.Path(),
    help="Compare with an earlier file of --json: ratios, and which are noise.",
)
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    type=click.Path(),
    help="Write the results as JSON.",
)
@click.option(
    "--plot",
    "plot_file",
    metavar="FILE",
    type=click.Path(),
    help="Draw throughput over time, as a .png or an .svg.",
)
@output_option(OutputFormat.TABLE, OutputFormat.CSV)
def command(
    paths: Sequence[str],
    names: Sequence[str],
    labels: Sequence[str],
    only_list: bool,
    configured: ConfigSource,
    seed: int,
    verify: int,
    repeat: int,
    against_file: str | None,
    json_file: str | None,
    plot_file: str | None,
    output: OutputFormat,
) -> None:
    """Measure scheduling speed with the workloads of upstream's scheduler_perf.

    FILE is a performance-config.yaml next to its templates, or a directory that
    contains such files. Every workload runs in its own process, with the whole
    scheduler and the in-memory cluster. A workload that needs an unsupported feature is
    skipped, and the reason is shown. The exit code is 1 if a workload does not finish,
    fails, or is below upstream's threshold, or if all are skipped.
    """
    if not labels and not names and not only_list:
        labels = (_LABEL,)
    # What is needed at the end is checked before runs that may take hours.
    draw = None if plot_file is None else _drawing_to(plot_file)
    workloads = select(load_workloads(find_files(paths)), names, labels)
    chosen = [workload.name for workload in workloads]
    before = {} if against_file is None else read_results(against_file, chosen)
    if only_list:
        _print_list(workloads, configured.kubernetes, output)
        return
    # Read once here, so that an error is reported once and not by each process.
    print_notices(read_config(configured, installed_plugins())[1])
    outcomes: list[Outcome] = []
    compared: list[Compared] = []
    # All workloads in turn: a slow phase of the machine does not fall on one of them
    # alone.
    for number in range(1, repeat + 1):
        for workload in workloads:
            outcome = _run(workload, configured, seed, verify)
            outcomes.append(attrs.evolve(outcome, run=number))
            compared = list(compare_results(before, outcomes))
            # After each run, so that an interrupted series keeps its results.
            if json_file is not None:
                _write(json_file, outcomes, compared)
    _print(outcomes, against_file, compared, output)
    if draw is not None:
        draw(outcomes)
    if not are_all_good(outcomes):
        sys.exit(NOT_GOOD)


def _run(
    workload: Workload, configured: ConfigSource, seed: int, verify: int
) -> Outcome:
    total = sum(
        operation.count
        for operation in workload.operations
        if isinstance(operation, CreatePods | CreateAny)
    )
    with progress_bar() as progress:
        task = progress.add_task(workload.name, total=total)

        def follow(bound: int) -> None:
            progress.update(task, completed=bound)

        on_progress: Callable[[int], None] | None
        # Reports take measured time.
        on_progress = None if progress.is_hidden else follow
        return run_apart(
            workload,
            config_file=configured.file,
            kubernetes=configured.kubernetes,
            seed=seed,
            verify=verify,
            on_progress=on_progress,
        )


def _drawing_to(file: str) -> Callable[[Sequence[Outcome]], None]:
    """Return the function that draws to a file; raise now if it cannot."""
    path = picture_path(file)
    from quaymaster._studies.perf.plot import draw  # noqa: PLC0415 - see picture_path

    def draw_file(outcomes: Sequence[Outcome]) -> None:
        measured = [
            measurement for outcome in outcomes for measurement in outcome.measurements
        ]
        if not any(measurement.throughput.rates for measurement in measured):
            warn("no picture: no pod was measured")
            return
        try:
            draw(outcomes, path)
        except OSError as error:
            raise click.FileError(file, error.strerror) from error

    return draw_file


def _write(
    file: str, outcomes: Sequence[Outcome], compared: Sequence[Compared]
) -> None:
    document = as_document(outcomes, compared)
    encoded = msgspec.json.format(msgspec.json.encode(document), indent=2)
    try:
        write_whole(file, encoded + b"\n")
    except OSError as error:
        raise click.FileError(file, error.strerror) from error


def _print_list(
    workloads: Sequence[Workload], kubernetes: Kubernetes, output: OutputFormat
) -> None:
    if output is OutputFormat.CSV:
        print_workloads_csv(workloads, kubernetes)
        return
    reasons = [why_left_out(workload, kubernetes) for workload in workloads]
    columns: tuple[str, ...] = ("WORKLOAD", "THRESHOLD", "LABELS", "FILE")
    if any(reasons):
        columns += ("LEFT OUT",)
    table = [
        (
            workload.name,
            f"{workload.threshold:g}" if workload.threshold else "-",
            ",".join(workload.labels) or "-",
            workload.file,
            reason or "-",
        )
        for workload, reason in zip(workloads, reasons, strict=True)
    ]
    print_table(columns, [row[: len(columns)] for row in table])


def _print_compared(file: str, compared: Sequence[Compared]) -> None:
    if not compared:
        warn(f"--against {file} and this run have no measurement in common")
        return
    print_line("")
    number = Counter(measurement.workload for measurement in compared)
    print_table(
        AGAINST_COLUMNS,
        [
            measurement.as_row(is_only=number[measurement.workload] == 1)
            for measurement in compared
        ],
    )


def _print(
    outcomes: Sequence[Outcome],
    against_file: str | None,
    compared: Sequence[Compared],
    output: OutputFormat,
) -> None:
    if output is OutputFormat.CSV:
        print_results_csv(outcomes, compared)
        return
    _print_outcomes(outcomes)
    if against_file is not None:
        _print_compared(against_file, compared)


def _print_outcomes(outcomes: Sequence[Outcome]) -> None:
    table = list(rows(outcomes))
    if table:
        print_table(COLUMNS, table)
    notes = [note for outcome in outcomes for note in outcome.notes]
    for note in dict.fromkeys((*notes, *waits(outcomes))):
        print_line(f"note: {note}")
    for text in unfinished(outcomes):
        print_line(text)
    for outcome in outcomes:
        if outcome.status == DONE and not is_beaten(outcome):
            print_line(f"{outcome.workload}: below the threshold")
