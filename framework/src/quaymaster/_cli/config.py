"""``quaymaster config``."""

import attrs
import click

from quaymaster._cli.inputs import read_config
from quaymaster._cli.logs import logging_to_stderr
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
)
from quaymaster._engine.scheduler import Scheduler
from quaymaster.clock import VirtualClock
from quaymaster.config import config_schema, dump_config
from quaymaster.memory import MemoryCluster
from quaymaster.registry import PluginRegistry

__all__ = ["group"]


@click.group("config")
def group() -> None:
    """Check and show scheduler configurations.

    FILE is a KubeSchedulerConfiguration, or the name of a profile that is shipped.
    """


@group.command("validate")
@click.argument("file")
def validate(file: str) -> None:
    """Check a configuration against the installed plugins; print every mistake.

    The plugins are built, as a scheduler would build them, but never asked.
    """
    registry = PluginRegistry.discover()
    config = read_config(file, registry)
    clock = VirtualClock()
    # Extenders may be configured for another machine than this one.
    alone = attrs.evolve(config, extenders=())
    with logging_to_stderr():
        Scheduler(MemoryCluster(clock), alone, registry, clock=clock).close()
    print_line(f"{file}: valid")


@group.command("show")
@click.argument("file")
@output_option(OutputFormat.YAML, OutputFormat.JSON)
def show(file: str, output: OutputFormat) -> None:
    """Show a configuration with all defaults filled in and multiPoint expanded."""
    config = read_config(file, PluginRegistry.discover())
    print_document(dump_config(config), output)


@group.command("schema")
def schema() -> None:
    """Print the JSON Schema of configurations, the installed plugins' args included."""
    print_document(config_schema(PluginRegistry.discover()), OutputFormat.JSON)
