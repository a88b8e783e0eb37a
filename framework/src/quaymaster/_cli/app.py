"""The command line: what there is, and how it is called."""

import typer

from quaymaster._cli import config, explain, plugins, simulate, version

__all__ = ["app"]

app = typer.Typer(
    name="quaymaster",
    help="The Kubernetes scheduling framework: simulate, explain and check scheduling.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("simulate")(simulate.command)
app.command("explain")(explain.command)
app.add_typer(plugins.app, name="plugins")
app.add_typer(config.app, name="config")
app.command("version")(version.command)
