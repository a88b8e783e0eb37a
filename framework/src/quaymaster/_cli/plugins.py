"""``quaymaster plugins``."""

from typing import Annotated

import typer

from quaymaster._cli.output import OutputFormat, print_document, print_table, stderr
from quaymaster.registry import PluginRegistry, RegisteredPlugin

__all__ = ["app"]

app = typer.Typer(help="See which plugins are installed.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """See which plugins are installed."""


@app.command("list")
def list_plugins(
    output: Annotated[
        OutputFormat, typer.Option("-o", "--output")
    ] = OutputFormat.TABLE,
) -> None:
    """List the installed plugins; a profile must name one to make it active."""
    registry = PluginRegistry.discover()
    for warning in registry.warnings:
        stderr().print(f"warning: {warning}", highlight=False, markup=False)
    usable = [plugin for plugin in registry.values() if plugin.error is None]
    if output is OutputFormat.TABLE:
        print_table(
            ("NAME", "DISTRIBUTION", "VERSION", "EXTENSION POINTS", "ARGS", "ORIGIN"),
            [_row(plugin) for plugin in usable],
        )
    else:
        print_document([_as_document(plugin) for plugin in usable], output)


def _points(plugin: RegisteredPlugin) -> list[str]:
    return [point.key for point in plugin.extension_points if point.key]


def _row(plugin: RegisteredPlugin) -> tuple[str, ...]:
    args = plugin.args_class
    return (
        plugin.name,
        plugin.distribution,
        plugin.version,
        ",".join(_points(plugin)),
        args.__name__ if args else "-",
        plugin.origin,
    )


def _as_document(plugin: RegisteredPlugin) -> dict[str, object]:
    args = plugin.args_class
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "origin": plugin.origin,
        "extensionPoints": _points(plugin),
        "args": args.__name__ if args else None,
    }
