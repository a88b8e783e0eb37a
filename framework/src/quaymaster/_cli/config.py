"""``quaymaster config``."""

import sys
from collections.abc import Sequence

import attrs
import click

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._cli.configuration import ConfigSource, missing_option, read_config
from quaymaster._cli.groups import SuggestingGroup
from quaymaster._cli.kubernetes import kubernetes_options
from quaymaster._cli.logs import logging_to_stderr
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_command,
    print_document,
    print_line,
)
from quaymaster._cli.values import complete_config
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.dump import dump_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.schema import SCHEMA_FILE, config_schema
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["build_plugins", "group"]

NOT_STRICT = 1


@click.group("config", cls=SuggestingGroup)
def group() -> None:
    """Check and show scheduler configurations.

    FILE is a KubeSchedulerConfiguration, or the name of a shipped profile.
    """


@group.command("validate", short_help="Check a configuration against installed plugins")
@click.argument("file", shell_complete=complete_config)
@kubernetes_options()
@missing_option
@click.option("--strict", is_flag=True, help="Exit with 1 if there is any warning.")
def validate(
    file: str, versions: Sequence[Kubernetes], without_missing: bool, strict: bool
) -> None:
    """Check a configuration against the installed plugins; print every mistake.

    The plugins are constructed as in a scheduler, but no hook is called.
    """
    configured = ConfigSource(
        file=file,
        chosen=versions[0] if versions else None,
        without_missing=without_missing,
    )
    registry = installed_plugins()
    config, notices = read_config(configured, registry)
    build_plugins(config, registry)
    print_line(f"{file}: valid")
    print_notices(notices)
    if strict and notices:
        sys.exit(NOT_STRICT)


@group.command("show", short_help="Show a configuration with all defaults")
@click.argument("file", shell_complete=complete_config)
@kubernetes_options()
@missing_option
@output_option(OutputFormat.YAML, OutputFormat.JSON)
def show(
    file: str,
    versions: Sequence[Kubernetes],
    without_missing: bool,
    output: OutputFormat,
) -> None:
    """Show a configuration with all defaults filled in and multiPoint expanded.

    The first line of YAML names the JSON Schema for editors: the one of built-in
    plugins, which is installed with Quaymaster. "config schema" prints the one of all
    installed plugins.
    """
    configured = ConfigSource(
        file=file,
        chosen=versions[0] if versions else None,
        without_missing=without_missing,
    )
    config, notices = read_config(configured, installed_plugins(), asks_extenders=False)
    if output is OutputFormat.YAML:
        # Editors read this line only if it is not folded.
        print_command(f"# yaml-language-server: $schema={SCHEMA_FILE.as_uri()}")
    print_document(dump_config(config), output)
    print_notices(notices)


@group.command("schema", short_help="Print the JSON Schema of configurations")
def schema() -> None:
    """Print the JSON Schema of configurations, with the args of installed plugins."""
    print_document(config_schema(installed_plugins()), OutputFormat.JSON)


def build_plugins(config: SchedulerConfig, registry: PluginRegistry) -> None:
    """Construct the plugins of a configuration as a scheduler does, and close them.

    Raises:
        ProfileError: A plugin cannot be constructed.
    """
    clock = VirtualClock()
    # Extenders may be configured for another machine than this one.
    alone = attrs.evolve(config, extenders=())
    with logging_to_stderr():
        Scheduler(InMemoryCluster(clock), alone, registry, clock=clock).close()
