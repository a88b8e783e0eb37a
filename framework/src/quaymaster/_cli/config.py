"""``quaymaster config``."""

import sys

import attrs
import click

from quaymaster._cli.configuration import config_notices, read_config
from quaymaster._cli.logs import logging_to_stderr
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
)
from quaymaster._cli.values import complete_config
from quaymaster._config.dump import dump_config
from quaymaster._config.load import load_config
from quaymaster._config.model import SchedulerConfig
from quaymaster._config.schema import config_schema
from quaymaster._contract.clock import VirtualClock
from quaymaster._engine.scheduler import Scheduler
from quaymaster._inmemory.cluster import InMemoryCluster
from quaymaster._registry.registry import PluginRegistry

__all__ = ["build_plugins", "group"]

NOT_STRICT = 1


@click.group("config")
def group() -> None:
    """Check and show scheduler configurations.

    FILE is a KubeSchedulerConfiguration, or the name of a profile that is shipped.
    """


@group.command("validate")
@click.argument("file", shell_complete=complete_config)
@click.option("--strict", is_flag=True, help="Exit with 1 if there is any warning.")
def validate(file: str, strict: bool) -> None:
    """Check a configuration against the installed plugins; print every mistake.

    The plugins are built, as a scheduler would build them, but never asked.
    """
    registry = PluginRegistry.discover()
    config, notices = read_config(file, registry)
    build_plugins(config, registry)
    print_line(f"{file}: valid")
    print_notices(notices)
    if strict and notices:
        sys.exit(NOT_STRICT)


@group.command("show")
@click.argument("file", shell_complete=complete_config)
@output_option(OutputFormat.YAML, OutputFormat.JSON)
def show(file: str, output: OutputFormat) -> None:
    """Show a configuration with all defaults filled in and multiPoint expanded."""
    config = load_config(file, PluginRegistry.discover())
    print_document(dump_config(config), output)
    print_notices(config_notices(config.warnings))


@group.command("schema")
def schema() -> None:
    """Print the JSON Schema of configurations, the installed plugins' args included."""
    print_document(config_schema(PluginRegistry.discover()), OutputFormat.JSON)


def build_plugins(config: SchedulerConfig, registry: PluginRegistry) -> None:
    """Build the plugins of a configuration, as a scheduler would, and close them.

    Raises:
        ProfileError: One cannot be built.
    """
    clock = VirtualClock()
    # Extenders may be configured for another machine than this one.
    alone = attrs.evolve(config, extenders=())
    with logging_to_stderr():
        Scheduler(InMemoryCluster(clock), alone, registry, clock=clock).close()
