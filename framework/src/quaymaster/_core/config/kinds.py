"""The kinds of objects that the plugins of a configuration use."""

from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import ApiObject, CompositePodGroup, PodGroup
from quaymaster._api.objects.kinds import is_builtin
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.model import ProfileConfig, SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry

__all__ = [
    "declared_kinds",
    "groups_read",
    "kinds_read",
    "plugin_names",
    "profile_plugins",
]

_GROUPS: Final[Sequence[type[ApiObject]]] = (CompositePodGroup, PodGroup)
"""The kinds that the scheduler itself follows while their feature gates are on."""


def declared_kinds(
    config: SchedulerConfig, registry: PluginRegistry
) -> Sequence[type[ApiObject]]:
    """Return the kinds that a configuration's plugins and all packages declare.

    Args:
        config: The configuration, whose profiles name the plugins.
        registry: Loads plugins by name, and the kinds of packages.

    Raises:
        KindError: A kind is not valid, or is declared by two classes.
        PluginLoadError: A plugin cannot be used.
    """
    return registry.kinds_of(profile_plugins(config))


def kinds_read(
    config: SchedulerConfig, registry: PluginRegistry
) -> Sequence[type[ApiObject]]:
    """Return the kinds that the plugins of a configuration read, nodes and pods last.

    Groups of pods are among them, for the scheduler itself. Kinds whose feature gate is
    off are left out.

    Args:
        config: The configuration, whose profiles name the plugins.
        registry: Loads plugins by name, and the kinds of packages.

    Raises:
        KindError: A kind is not valid, or is declared by two classes.
        PluginLoadError: A plugin cannot be used.
    """
    read = dict.fromkeys((*_GROUPS, *registry.read_by(profile_plugins(config))))
    return [kind for kind in read if _is_read(kind, config.kubernetes)]


def groups_read(kubernetes: Kubernetes) -> Sequence[type[ApiObject]]:
    """Return the kinds of groups that the scheduler itself follows.

    Args:
        kubernetes: The version and feature gates.
    """
    return [kind for kind in _GROUPS if _is_read(kind, kubernetes)]


def _is_read(kind: type[ApiObject], kubernetes: Kubernetes) -> bool:
    return not is_builtin(kind) or kubernetes.reads(kind.kind)


def profile_plugins(config: SchedulerConfig) -> Sequence[str]:
    """Return the plugins of all profiles, each once."""
    listed = (name for profile in config.profiles for name in plugin_names(profile))
    return list(dict.fromkeys(listed))


def plugin_names(profile: ProfileConfig) -> Sequence[str]:
    """Return the plugins of a profile, each once, in the order of extension points.

    A plugin that only breaks ties is the last.
    """
    listed = [plugin.name for point in profile.plugins.values() for plugin in point]
    if profile.tie_breaking_plugin:
        listed.append(profile.tie_breaking_plugin)
    return list(dict.fromkeys(listed))
