"""``quaymaster config``."""

from pathlib import Path
from typing import Annotated

import typer

from quaymaster._cli.inputs import read_config
from quaymaster._cli.output import OutputFormat, print_document, print_line
from quaymaster.config import config_schema, dump_config
from quaymaster.registry import PluginRegistry

__all__ = ["app"]

app = typer.Typer(help="Check and show scheduler configurations.", no_args_is_help=True)

FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A KubeSchedulerConfiguration, or the name of a profile that is shipped.",
        show_default=False,
    ),
]


@app.command("validate")
def validate(file: FileArgument) -> None:
    """Check a configuration against the installed plugins; print every mistake."""
    read_config(file, PluginRegistry.discover())
    print_line(f"{Path(file)}: valid")


@app.command("show")
def show(
    file: FileArgument,
    output: Annotated[OutputFormat, typer.Option("-o", "--output")] = OutputFormat.YAML,
) -> None:
    """Show a configuration with all defaults filled in and multiPoint expanded."""
    config = read_config(file, PluginRegistry.discover())
    form = OutputFormat.YAML if output is OutputFormat.TABLE else output
    print_document(dump_config(config), form)


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of configurations, the installed plugins' args included."""
    print_document(config_schema(PluginRegistry.discover()), OutputFormat.JSON)
