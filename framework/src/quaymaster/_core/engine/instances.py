"""Finds the instance of a plugin in a profile."""

from collections.abc import Iterable, Mapping

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.engine.framework import Framework

__all__ = ["PluginNotFoundError", "plugin_at_work"]


class PluginNotFoundError(QuaymasterError, LookupError):
    """A profile has no such plugin, or there is no such profile.

    Attributes:
        plugin: The name of the plugin, or of its class.
        scheduler_name: The profile's name.
    """

    def __init__(
        self, plugin: str, scheduler_name: str, plugins: Iterable[str]
    ) -> None:
        names = ", ".join(plugins) or "none"
        super().__init__(
            f"profile '{scheduler_name}': no plugin {plugin} (plugins: {names})"
        )
        self.plugin = plugin
        self.scheduler_name = scheduler_name


def plugin_at_work(
    frameworks: Mapping[str, Framework], plugin: str | type, scheduler_name: str
) -> object:
    """Return the instance of a plugin that a profile calls.

    Args:
        frameworks: Scheduler name -> the profile at work.
        plugin: The plugin's name in the profile; or its class, of which the first
            instance is returned.
        scheduler_name: The profile.

    Raises:
        PluginNotFoundError: There is no such plugin, or no such profile.
    """
    framework = frameworks.get(scheduler_name)
    plugins = {} if framework is None else framework.profile.plugins
    if isinstance(plugin, str):
        if plugin in plugins:
            return plugins[plugin]
        raise PluginNotFoundError(plugin, scheduler_name, plugins)
    for instance in plugins.values():
        if isinstance(instance, plugin):
            return instance
    raise PluginNotFoundError(plugin.__name__, scheduler_name, plugins)
