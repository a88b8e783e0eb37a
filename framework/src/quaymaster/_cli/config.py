"""``quaymaster config``."""

import click

from quaymaster._cli.inputs import read_config
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_line,
)
from quaymaster.config import config_schema, dump_config
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
    """Check a configuration against the installed plugins; print every mistake."""
    read_config(file, PluginRegistry.discover())
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
