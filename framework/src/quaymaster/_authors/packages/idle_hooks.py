"""Finds hooks of a package's plugins that its profile never runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.converter import structure
from quaymaster._core.config.document import Document
from quaymaster._core.config.load import read_source
from quaymaster._core.config.merge import entry_sets
from quaymaster._core.config.model import ProfileConfig, SchedulerConfig
from quaymaster._core.config.points import WILDCARD
from quaymaster._core.config.wrapped import read_wrapped
from quaymaster._core.contract.extension_points import ExtensionPoint
from quaymaster._core.registry.plugin_checks import marked_hooks
from quaymaster._core.registry.registered import RegisteredPlugin

__all__ = ["IdleHooks", "idle_hooks"]


@attrs.frozen
class IdleHooks:
    """Hooks of an enabled plugin that no profile runs.

    Attributes:
        plugin: The plugin's name.
        hooks: The names of the hooks, in the order of the calls.
        points: The keys of their extension points.
    """

    plugin: str
    hooks: Sequence[str]
    points: Sequence[str]


def idle_hooks(
    path: Path, config: SchedulerConfig, plugins: Sequence[RegisteredPlugin]
) -> Iterator[IdleHooks]:
    """Yield the plugins that a configuration enables at some of their points only.

    Hooks without an extension point run wherever the plugin is enabled. A point that
    disables the plugin, by its name or by ``*``, leaves it out on purpose.

    Args:
        path: The configuration's file.
        config: Its content.
        plugins: The plugins to look for, which can be loaded.
    """
    left_out = _left_out(path)
    for plugin in plugins:
        profiles = [each for each in config.profiles if _points(each, plugin.name)]
        used = {key for each in profiles for key in _points(each, plugin.name)}
        idle = [
            point
            for point in plugin.extension_points
            if point.key not in used
            and any(_may_run(plugin, point, each.kubernetes) for each in profiles)
            and left_out.isdisjoint({(point.key, plugin.name), (point.key, WILDCARD)})
        ]
        if idle:
            own = frozenset(marked_hooks(plugin.load()))
            hooks = [hook for point in idle for hook in point.hooks if hook in own]
            yield IdleHooks(plugin.name, hooks, [point.key for point in idle])


def _may_run(
    plugin: RegisteredPlugin, point: ExtensionPoint, kubernetes: Kubernetes
) -> bool:
    """Return whether a profile could enable a plugin at a point."""
    is_there = not point.gate or kubernetes.enabled(point.gate)
    return bool(point.key) and is_there and plugin.extends(point.key, kubernetes)


def _points(profile: ProfileConfig, name: str) -> frozenset[str]:
    """Return the keys of the points at which a profile enables a plugin."""
    return frozenset(
        key
        for key, plugins in profile.plugins.items()
        if any(plugin.name == name for plugin in plugins)
    )


def _left_out(path: Path) -> frozenset[tuple[str, str]]:
    """Return the points and names of what a valid configuration disables."""
    document, source = read_wrapped(read_source(str(path)), str(path))
    result, _ = structure(document, Document)
    assert isinstance(result, Document), "it has been loaded"
    return frozenset(
        (key, entry.name)
        for profile in result.profiles
        for key, entries in entry_sets(profile.plugins, "", source).items()
        for entry in entries.disabled
    )
