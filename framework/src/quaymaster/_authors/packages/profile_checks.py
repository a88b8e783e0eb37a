"""Checks the profile that a package ships for its users."""

from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster._authors.packages.candidate import Candidate
from quaymaster._authors.packages.findings import Finding
from quaymaster._authors.packages.idle_hooks import idle_hooks
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.config.load import load_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["profile_findings"]

_FILE: Final = "profile.yaml"


def profile_findings(
    candidate: Candidate,
    plugins: Sequence[RegisteredPlugin],
    others: PluginRegistry,
) -> Iterator[Finding]:
    """Find a profile that does not load, or does not run all hooks of the plugins.

    Args:
        candidate: The package; without a ``profile.yaml``, nothing is checked.
        plugins: Its plugins, which can be loaded.
        others: The plugins of other packages.
    """
    file = candidate.folder / _FILE if candidate.folder else None
    if file is None or not file.is_file() or not plugins:
        return
    registry = others
    for plugin in plugins:
        registry = registry.with_plugin(plugin.load(), plugin.name)
    try:
        config = load_config(file, registry)
    except QuaymasterError as error:
        yield Finding.error("profile", _FILE, f"does not load: {error}")
        return
    enabled = _enabled(config)
    missing = [
        plugin.name
        for plugin in plugins
        if plugin.extension_points and plugin.name not in enabled
    ]
    if missing:
        # A package may have plugins of which a profile needs only one.
        has_none = not enabled.intersection(plugin.name for plugin in plugins)
        make = Finding.error if has_none else Finding.warning
        names = ", ".join(missing)
        text = f"enables no {names}: add the name to plugins.multiPoint.enabled"
        yield make("profile", _FILE, text)
    for idle in idle_hooks(file, config, plugins):
        points, hooks = ", ".join(idle.points), ", ".join(idle.hooks)
        text = (
            f"enables {idle.plugin}, but not at {points}, so these hooks of it never "
            f"run: {hooks}; enable it under plugins.multiPoint, or disable it by name "
            "at the points to leave out"
        )
        yield Finding.warning("profile", _FILE, text)


def _enabled(config: SchedulerConfig) -> frozenset[str]:
    return frozenset(
        plugin.name
        for profile in config.profiles
        for plugins in profile.plugins.values()
        for plugin in plugins
    )
