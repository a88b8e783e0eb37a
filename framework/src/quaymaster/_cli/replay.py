"""``quaymaster replay``."""

import sys

import click

from quaymaster._cli.configuration import read_config
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    progress_bar,
)
from quaymaster._cli.replayed import as_document, print_replay
from quaymaster._cli.values import config_option
from quaymaster._recording.replaying import replay
from quaymaster._registry.registry import PluginRegistry

__all__ = ["command"]

SOME_DIFFER = 1

_TOP = 10


@click.command("replay")
@click.argument("record", metavar="FILE", type=click.Path())
@config_option()
@click.option(
    "--seed",
    metavar="N",
    default=0,
    help="Decides what is random in plugins. Ties are told, and need no seed.",
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
    help="Show the first N decisions that differ; 0 shows all. JSON and YAML have all.",
)
@output_option(OutputFormat.TABLE, OutputFormat.JSON, OutputFormat.YAML)
def command(
    record: str,
    config_file: str | None,
    seed: int,
    require_same: bool,
    top: int,
    output: OutputFormat,
) -> None:
    """Make each decision of a record again, and compare.

    FILE is what "record" has written. Each time that the recorded scheduler bound a
    pod, said why it could not, or made room for it, ours decides about the same pod on
    the same state. Then the record is followed, whatever ours decided.
    """
    registry = PluginRegistry.discover()
    config, notices = read_config(config_file, registry, asks_extenders=True)
    with progress_bar() as progress:
        task = progress.add_task("deciding", total=None)
        result = replay(
            record,
            config=config,
            registry=registry,
            seed=seed,
            on_progress=lambda done, total: progress.update(
                task, completed=done, total=total
            ),
        )
    if output is OutputFormat.TABLE:
        print_replay(result, top=top)
    else:
        print_document(as_document(result), output)
    print_notices((*notices, *result.notices))
    if require_same and result.differing():
        sys.exit(SOME_DIFFER)
