"""Looks up the plugins that a configuration names."""

from quaymaster._base.versions.kubernetes import GATED_PLUGINS
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry, UnknownPluginError

__all__ = ["usable_plugin"]


def usable_plugin(name: str, registry: PluginRegistry) -> RegisteredPlugin | str:
    """Return the plugin of this name, or a message why it cannot be used."""
    plugin = registry.get(name)
    gate = GATED_PLUGINS.get(name)
    if plugin is None and gate is not None:
        return (
            f"plugin {name!r} is not there: kube-scheduler's does nothing while the "
            f"feature gate {gate} is off, as by default"
        )
    if plugin is None:
        return str(UnknownPluginError(name, registry))
    return plugin if plugin.error is None else str(plugin.error)
