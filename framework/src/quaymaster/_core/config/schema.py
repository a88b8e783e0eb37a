"""The JSON Schema of configurations, for editors."""

import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from quaymaster._core.config.args import args_kind
from quaymaster._core.config.document import (
    API_VERSION,
    KIND,
    Document,
    PluginConfig,
    PluginRef,
    PluginSet,
    ProfileDocument,
)
from quaymaster._core.config.model import TIE_BREAKERS
from quaymaster._core.config.points import MULTI_POINT, PLUGIN_SETS, POINTS
from quaymaster._core.config.tie_breakers import breaks_ties
from quaymaster._core.config.type_schema import DIALECT, Definitions, Schema
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["SCHEMA_FILE", "config_schema"]

_Names: TypeAlias = Callable[[list[str]], Schema]

SCHEMA_FILE: Final = Path(__file__).with_name("scheduler.schema.json")
"""The schema of configurations with built-in plugins, which allows other plugins."""


def config_schema(
    registry: PluginRegistry, *, others: bool = False
) -> dict[str, object]:
    """Describe configurations and the arguments of the installed plugins.

    Args:
        registry: The installed plugins; those that cannot be loaded are left out.
        others: Whether other plugins are allowed, too. Editors still suggest the
            installed ones.

    Returns:
        A JSON Schema, draft 2020-12.
    """
    plugins = {name: item for name, item in registry.items() if item.error is None}
    definitions = Definitions()
    name_of = _open if others else _closed
    document = definitions.of(Document)
    definitions.amend(Document, "apiVersion", {"const": API_VERSION})
    definitions.amend(Document, "kind", {"const": KIND})
    definitions.amend(
        ProfileDocument, "plugins", _plugins(plugins, definitions, name_of)
    )
    tie_breakers = name_of(_tie_breakers(plugins))
    definitions.amend(ProfileDocument, "tieBreaker", tie_breakers)
    _describe_args(plugins, definitions, name_of)
    return {
        "$schema": DIALECT,
        "title": KIND,
        **document,
        "$defs": definitions.named,
    }


def _closed(names: list[str]) -> Schema:
    """Describe one of some names."""
    return {"enum": names}


def _open(names: list[str]) -> Schema:
    """Describe any name; editors suggest some."""
    return {"anyOf": [{"enum": names}, {"type": "string"}]}


def _tie_breakers(plugins: Mapping[str, RegisteredPlugin]) -> list[str]:
    named = (name for name, plugin in plugins.items() if breaks_ties(plugin))
    return [*TIE_BREAKERS, *named]


def _plugins(
    plugins: Mapping[str, RegisteredPlugin],
    definitions: Definitions,
    name_of: _Names,
) -> Schema:
    properties: dict[str, object] = {}
    for key in PLUGIN_SETS:
        names = [
            name
            for name, plugin in plugins.items()
            if (key == MULTI_POINT and plugin.extension_points) or plugin.extends(key)
        ]
        properties[key] = _plugin_set(key, name_of(names), definitions)
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _plugin_set(key: str, name: Schema, definitions: Definitions) -> Schema:
    described = POINTS[key].spec.__doc__ if key in POINTS else None
    one_of_these = {"properties": {"name": name}}
    enabled = {"items": {"allOf": [definitions.of(PluginRef), one_of_these]}}
    return {
        "description": (described or "Every extension point.").split("\n")[0],
        "allOf": [definitions.of(PluginSet), {"properties": {"enabled": enabled}}],
    }


def _describe_args(
    plugins: Mapping[str, RegisteredPlugin],
    definitions: Definitions,
    name_of: _Names,
) -> None:
    """Add the schema of each plugin's ``args`` in ``pluginConfig``."""
    definitions.amend(PluginConfig, "name", name_of(list(plugins)))
    definitions.extend(
        PluginConfig,
        {
            "allOf": [
                {
                    "if": {"properties": {"name": {"const": name}}},
                    "then": {"properties": {"args": _args(plugin, definitions)}},
                }
                for name, plugin in plugins.items()
            ]
        },
    )


def _args(plugin: RegisteredPlugin, definitions: Definitions) -> Schema:
    header: dict[str, Schema] = {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": args_kind(plugin.name)},
    }
    if plugin.args_class is None:
        return {
            "type": ["object", "null"],
            "properties": header,
            "additionalProperties": False,
        }
    schema = definitions.record(plugin.args_class)
    properties = typing.cast("dict[str, Schema]", schema["properties"])
    return {**schema, "properties": header | properties}
