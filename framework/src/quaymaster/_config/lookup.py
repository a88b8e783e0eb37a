"""Finds the plugins that a configuration names."""

from quaymaster._registry.registry import (
    PluginRegistry,
    RegisteredPlugin,
    UnknownPluginError,
)

__all__ = ["usable_plugin"]


def usable_plugin(name: str, registry: PluginRegistry) -> RegisteredPlugin | str:
    """The plugin of this name, or a message why it cannot be used."""
    plugin = registry.get(name)
    if plugin is None:
        return str(UnknownPluginError(name, registry))
    return plugin if plugin.error is None else str(plugin.error)
