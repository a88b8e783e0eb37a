"""The JSON Schema of configurations, for editors."""

import typing
from collections.abc import Mapping

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

__all__ = ["config_schema"]


def config_schema(registry: PluginRegistry) -> dict[str, object]:
    """Describe configurations and the arguments of the installed plugins.

    Args:
        registry: The installed plugins; those that cannot be loaded are left out.

    Returns:
        A JSON Schema, draft 2020-12.
    """
    plugins = {name: item for name, item in registry.items() if item.error is None}
    definitions = Definitions()
    document = definitions.of(Document)
    definitions.amend(Document, "apiVersion", {"const": API_VERSION})
    definitions.amend(Document, "kind", {"const": KIND})
    definitions.amend(ProfileDocument, "plugins", _plugins(plugins, definitions))
    definitions.amend(ProfileDocument, "tieBreaker", {"enum": _tie_breakers(plugins)})
    _describe_args(plugins, definitions)
    return {
        "$schema": DIALECT,
        "title": KIND,
        **document,
        "$defs": definitions.named,
    }


def _tie_breakers(plugins: Mapping[str, RegisteredPlugin]) -> list[str]:
    named = (name for name, plugin in plugins.items() if breaks_ties(plugin))
    return [*TIE_BREAKERS, *named]


def _plugins(
    plugins: Mapping[str, RegisteredPlugin], definitions: Definitions
) -> Schema:
    properties: dict[str, object] = {}
    for key in PLUGIN_SETS:
        names = [
            name
            for name, plugin in plugins.items()
            if (key == MULTI_POINT and plugin.extension_points) or plugin.extends(key)
        ]
        properties[key] = _plugin_set(key, names, definitions)
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _plugin_set(key: str, names: list[str], definitions: Definitions) -> Schema:
    described = POINTS[key].spec.__doc__ if key in POINTS else None
    one_of_these = {"properties": {"name": {"enum": names}}}
    enabled = {"items": {"allOf": [definitions.of(PluginRef), one_of_these]}}
    return {
        "description": (described or "Every extension point.").split("\n")[0],
        "allOf": [definitions.of(PluginSet), {"properties": {"enabled": enabled}}],
    }


def _describe_args(
    plugins: Mapping[str, RegisteredPlugin], definitions: Definitions
) -> None:
    """Add the schema of each plugin's ``args`` in ``pluginConfig``."""
    definitions.amend(PluginConfig, "name", {"enum": list(plugins)})
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
