"""The default profile of the installed plugins, for callers that name neither."""

from quaymaster._core.config.load import default_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["with_defaults"]


def with_defaults(
    config: SchedulerConfig | None, registry: PluginRegistry | None
) -> tuple[SchedulerConfig, PluginRegistry]:
    """Return a configuration and a registry, in place of those that are None.

    Args:
        config: The configuration; by default the default profile of the registry.
        registry: Where plugins are found by name; by default the installed plugins.

    Raises:
        ConfigErrors: A plugin of the default profile is not installed.
        DuplicatePluginError: Two distributions offer the same plugin.
    """
    if registry is None:
        registry = installed_plugins()
    return (default_config(registry) if config is None else config), registry
