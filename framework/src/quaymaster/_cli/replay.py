"""``quaymaster replay``."""

import sys
from functools import partial

import attrs
import click

from quaymaster._cli.autoscaler import (
    ScaledRun,
    autoscaler_option,
    the_autoscaler,
)
from quaymaster._cli.configuration import ConfigSource, config_options, read_config
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    progress_bar,
)
from quaymaster._cli.replayed import as_document, print_decisions_csv, print_replay
from quaymaster._cli.report_option import report_option
from quaymaster._cli.reports import write_report
from quaymaster._cli.rerun import print_rerun, rerun_document, rerun_rows
from quaymaster._cli.results import print_pods_csv
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._studies.recording.compared import ReplayResult
from quaymaster._studies.recording.replaying import replay
from quaymaster._studies.recording.rerunning import RerunResult, rerun

__all__ = ["command"]

SOME_DIFFER = 1

_TOP = 10


@click.command("replay")
@click.argument("record", metavar="FILE", type=click.Path())
@config_options(is_simulated=True)
@click.option(
    "--seed",
    metavar="N",
    default=0,
    help="The seed of random plugins. Ties are reported, and need no seed.",
)
@click.option(
    "--require-same",
    is_flag=True,
    help="Exit with 1 if any decision differs: another node, or a node in only one.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=_TOP,
    show_default=True,
    help="Show the first N decisions that differ; 0 shows all. JSON and YAML list all.",
)
@click.option(
    "--what-if",
    is_flag=True,
    help="Apply our own decisions instead, and print the results for the pods.",
)
@autoscaler_option()
@report_option()
@output_option(
    OutputFormat.TABLE, OutputFormat.CSV, OutputFormat.JSON, OutputFormat.YAML
)
def command(
    record: str,
    configured: ConfigSource,
    seed: int,
    require_same: bool,
    top: int,
    what_if: bool,
    autoscaler_file: str | None,
    report_file: str | None,
    output: OutputFormat,
) -> None:
    """Make each decision of a record again, and compare.

    FILE is a record of "record". Whenever the recorded scheduler bound a pod, reported
    why it could not, or preempted pods for it, our scheduler decides about the same pod
    on the same state. Then the replay applies the recorded decision, not ours.

    With --what-if, pods are created and deleted as recorded, and our scheduler places
    them. Their waiting times and usage are printed beside the recorded ones. With
    --autoscaler as well, nodes come and go as this autoscaler decides, beginning with
    those that existed when the record began.
    """
    if what_if and require_same:
        raise click.UsageError(
            "--require-same compares decisions, and --what-if does not"
        )
    if autoscaler_file is not None and not what_if:
        raise click.UsageError(
            "--autoscaler needs --what-if: recorded decisions are about recorded nodes"
        )
    scaled = ScaledRun(the_autoscaler(autoscaler_file))
    registry = installed_plugins().with_kinds(scaled.kinds)
    config, notices = read_config(configured, registry, asks_extenders=True)
    with progress_bar() as progress:
        task = progress.add_task("deciding", total=None)

        def follow(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        observe = report_file is not None
        again = partial(rerun, observe=observe, autoscaler=scaled.factory)
        run = again if what_if else replay
        result = run(
            record, config=config, registry=registry, seed=seed, on_progress=follow
        )
    if report_file is not None:
        _report(result, report_file, record)
    _print(result, top, output, scaled)
    print_notices((*notices, *result.notices))
    if require_same and isinstance(result, ReplayResult) and result.differing():
        sys.exit(SOME_DIFFER)


def _report(result: ReplayResult | RerunResult, file: str, record: str) -> None:
    # Imported only if a report is written.
    from quaymaster._surfaces.reporting.tables import ReportTable  # noqa: PLC0415

    if isinstance(result, ReplayResult):
        write_report(file, [], title=f"Replay of {record}", replay=result)
        return
    assert result.observed is not None, "requested above"
    run = attrs.evolve(
        result.observed, result=attrs.evolve(result.result, notices=result.notices)
    )
    table = ReportTable(
        title="Results for the pods",
        columns=("", "Ours", "Theirs"),
        rows=tuple(rerun_rows(result)),
    )
    write_report(file, [run], title=f"What if: {record}", tables=[table])


def _print(
    result: ReplayResult | RerunResult,
    top: int,
    output: OutputFormat,
    scaled: ScaledRun,
) -> None:
    if output is OutputFormat.CSV:
        if isinstance(result, ReplayResult):
            print_decisions_csv(result)
        else:
            print_pods_csv(result.result)
    elif output is not OutputFormat.TABLE:
        document = (
            as_document(result)
            if isinstance(result, ReplayResult)
            else rerun_document(result)
        )
        print_document(document | scaled.document(), output)
    elif isinstance(result, ReplayResult):
        print_replay(result, top=top)
    else:
        print_rerun(result)
        scaled.print()
