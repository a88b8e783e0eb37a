"""``quaymaster plugins``."""

import click

from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_table,
    print_text,
    warn,
)
from quaymaster._registry.registry import PluginRegistry, RegisteredPlugin

__all__ = ["group"]


@click.group("plugins")
def group() -> None:
    """See which plugins are installed."""


@group.command("list")
@output_option(
    OutputFormat.TABLE, OutputFormat.NAME, OutputFormat.JSON, OutputFormat.YAML
)
def list_plugins(output: OutputFormat) -> None:
    """List the installed plugins; a profile must name one to make it active."""
    registry = PluginRegistry.discover()
    for warning in registry.warnings:
        warn(f"warning: {warning}")
    usable = [plugin for plugin in registry.values() if plugin.error is None]
    if output is OutputFormat.TABLE:
        print_table(
            ("NAME", "DISTRIBUTION", "VERSION", "EXTENSION POINTS", "ARGS", "ORIGIN"),
            [_row(plugin) for plugin in usable],
        )
    elif output is OutputFormat.NAME:
        print_text("".join(f"{plugin.name}\n" for plugin in usable))
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
