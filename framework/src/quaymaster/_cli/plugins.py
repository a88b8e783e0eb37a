"""``quaymaster plugins``."""

from pathlib import Path
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
from quaymaster._packages.new import DEFAULT_POINTS, make_package, parse_points
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
    """See which plugins are installed, and make new ones."""


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


@group.command("new")
@click.argument("name")
@click.option(
    "--points",
    metavar="POINT,...",
    default=",".join(DEFAULT_POINTS),
    show_default=True,
    help="The extension points that the plugin has hooks for.",
)
@click.option(
    "--dir",
    "parent",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="Where to make the package's folder, by default here.",
)
def new_plugin(name: str, points: str, parent: Path) -> None:
    """Make a package with a new plugin: code, tests, types, CI.

    NAME is CamelCase, such as ZoneAllow: the folder and the distribution are then
    called quaymaster-zone-allow. The plugin knows one small rule, which each of its
    hooks follows; its tests, mypy and ruff are green. Put your rule in its place.
    """
    chosen = parse_points(points)
    folder = make_package(name, chosen, parent, PluginRegistry.discover())
    print_text(f"{folder}\n")


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
