"""``quaymaster record``."""

import threading
from datetime import timedelta

import click

from quaymaster._base.errors import counted
from quaymaster._cli.configuration import ConfigSource, config_options, read_config
from quaymaster._cli.live_options import cluster_options
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import progress_bar, warn
from quaymaster._cli.results import duration
from quaymaster._cli.signals import stopping
from quaymaster._core.config.duration import parse_duration
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._studies.recording.live import Recorded, record
from quaymaster._studies.recording.traces.importing import TraceFormat, import_trace

__all__ = ["command"]


def _duration(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> timedelta | None:
    """Read ``--duration``."""
    if text is None:
        return None
    length = parse_duration(text)
    if length is None or length <= timedelta():
        message = f"expected a length of time such as 90s, 10m or 1h30m, got {text!r}"
        raise click.BadParameter(message)
    return length


@click.command("record")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@cluster_options
@click.option(
    "--from",
    "trace",
    type=click.Choice(
        [trace_format.value for trace_format in TraceFormat], case_sensitive=False
    ),
    help="Convert a public trace instead: PATHs are its tables, or folders with them.",
)
@click.option(
    "--max-pods",
    metavar="N",
    type=click.IntRange(min=0),
    help="With --from: take the first N pods.",
)
@click.option(
    "--duration",
    "length",
    metavar="TIME",
    callback=_duration,
    help="How long to record, such as 90s or 1h30m; by default until Ctrl-C.",
)
@click.option(
    "--anonymise",
    is_flag=True,
    help="Rename all objects, and remove fields that scheduling does not read.",
)
@config_options()
@click.option(
    "-o",
    "--output",
    "file",
    metavar="FILE",
    required=True,
    type=click.Path(),
    help="The file of the record; compressed if it ends with .gz. An existing record "
    "is continued.",
)
def command(
    paths: tuple[str, ...],
    trace: str | None,
    max_pods: int | None,
    context: str,
    kubeconfig: str | None,
    length: timedelta | None,
    anonymise: bool,
    configured: ConfigSource,
    file: str,
) -> None:
    """Record the changes of a live cluster in a file, for "replay".

    The file has the fields of each object that scheduling reads, and each change of
    them with its time. Nothing is written to the cluster. Ctrl-C ends the record. After
    a crash, the record is readable up to the last second and can be continued.
    """
    if trace is not None:
        _import(TraceFormat(trace), paths, file, max_pods)
        return
    if paths:
        raise click.UsageError(
            "expected --from with PATHs, which are tables of a trace"
        )
    registry = installed_plugins()
    config, notices = read_config(configured, registry, asks_extenders=False)
    stop = threading.Event()
    with progress_bar() as progress, stopping(stop.set):
        task = progress.add_task("recording", total=None)

        def follow(objects: int, lines: int) -> None:
            text = f"recording {counted(objects, 'object')}, {counted(lines, 'line')}"
            progress.update(task, description=text)

        recorded = record(
            file,
            context=context,
            kubeconfig=kubeconfig,
            kinds=declared_kinds(config, registry),
            kubernetes=config.kubernetes,
            seconds=None if length is None else length.total_seconds(),
            anonymise=anonymise,
            stop=stop,
            on_progress=follow,
        )
    warn(f"{file}: {_summary(recorded)}")
    print_notices((*notices, *recorded.notices))


def _import(
    trace: TraceFormat, paths: tuple[str, ...], file: str, max_pods: int | None
) -> None:
    if not paths:
        raise click.UsageError("expected PATHs with --from, the tables of the trace")
    imported = import_trace(trace, paths, file, max_pods=max_pods)
    length = duration(round(imported.seconds))
    what = f"{counted(imported.nodes, 'node')}, {counted(imported.pods, 'pod')}"
    warn(f"{file}: {what}, {length}")


def _summary(recorded: Recorded) -> str:
    what = "went on" if recorded.went_on else "recorded"
    return (
        f"{what} for {duration(round(recorded.seconds))}: "
        f"{counted(recorded.lines, 'line')}, {counted(recorded.pods, 'pod')}, "
        f"{counted(recorded.objects, 'object')} at the end"
    )
