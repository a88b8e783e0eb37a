"""``quaymaster plugins``."""

from typing import Final

import click

from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_table,
    print_text,
    warn,
)
from quaymaster._cli.plugin_events import EventsTold, events_told
from quaymaster._registry.registry import PluginRegistry, RegisteredPlugin

__all__ = ["group"]

_HEADER: Final = (
    *("NAME", "DISTRIBUTION", "VERSION", "EXTENSION POINTS"),
    *("EVENTS", "ARGS", "ORIGIN"),
)

_EVENTS: Final = {EventsTold.UNNEEDED: None, EventsTold.UNKNOWN: "unknown"}
"""What documents say in the place of signs."""


@click.group("plugins")
def group() -> None:
    """See which plugins are installed."""


@group.command("list")
@output_option(
    OutputFormat.TABLE, OutputFormat.NAME, OutputFormat.JSON, OutputFormat.YAML
)
def list_plugins(output: OutputFormat) -> None:
    """List the installed plugins; a profile must name one to make it active.

    EVENTS says what wakes pods that a plugin has rejected: a list of events, all of
    them (it registers nothing), or none; "?" if it cannot say without arguments.
    """
    registry = PluginRegistry.discover()
    for warning in registry.warnings:
        warn(f"warning: {warning}")
    usable = [plugin for plugin in registry.values() if plugin.error is None]
    if output is OutputFormat.TABLE:
        print_table(
            _HEADER,
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
        events_told(plugin),
        args.__name__ if args else "-",
        plugin.origin,
    )


def _as_document(plugin: RegisteredPlugin) -> dict[str, object]:
    args, told = plugin.args_class, events_told(plugin)
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "origin": plugin.origin,
        "extensionPoints": _points(plugin),
        "events": _EVENTS.get(told, told.value),
        "args": args.__name__ if args else None,
    }
