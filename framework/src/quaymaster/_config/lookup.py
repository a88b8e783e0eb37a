"""Finds the plugins that a configuration names."""

from quaymaster._registry.registry import PluginRegistry, RegisteredPlugin
from quaymaster._suggestions import did_you_mean

__all__ = ["usable_plugin"]


def usable_plugin(name: str, registry: PluginRegistry) -> RegisteredPlugin | str:
    """The plugin of this name, or a message why it cannot be used."""
    plugin = registry.get(name)
    if plugin is None:
        installed = ", ".join(registry) or "none"
        hint = did_you_mean(name, registry)
        return f"unknown plugin {name!r} (installed: {installed}){hint}"
    return plugin if plugin.error is None else str(plugin.error)
