"""Plugins that a configuration names and that are not installed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._core.config.document import (
    Document,
    PluginConfig,
    PluginRef,
    PluginSet,
    ProfileDocument,
)
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.naming import join_path
from quaymaster._core.config.points import NEEDED
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["ORIGINS", "leave_out_missing"]

_SCHEDULER_PLUGINS: Final = (
    "CapacityScheduling",
    "Coscheduling",
    "CrossNodePreemption",
    "LoadVariationRiskBalancing",
    "LowRiskOverCommitment",
    "NetworkOverhead",
    "NodeMetadata",
    "NodeResourceTopologyMatch",
    "NodeResourcesAllocatable",
    "Peaks",
    "PodState",
    "PreemptionToleration",
    "QOSSort",
    "SySched",
    "TargetLoadPacking",
    "TopologicalSort",
)
"""Of kubernetes-sigs/scheduler-plugins, ``cmd/scheduler/main.go``."""

_KOORDINATOR: Final = (
    "BatchResourceFit",
    "CompatibleDefaultPreBind",
    "Coscheduling",
    "DefaultPreBind",
    "DeviceShare",
    "ElasticQuota",
    "LoadAwareScheduling",
    "NodeNUMAResource",
    "NodeResourcesFitPlus",
    "Reservation",
    "ScarceResourceAvoidance",
    "SchedulingHint",
)
"""Of koordinator-sh/koordinator, ``cmd/koord-scheduler/main.go``."""

ORIGINS: Final[Mapping[str, str]] = {
    name: " or ".join(
        project
        for project, names in (
            ("scheduler-plugins", _SCHEDULER_PLUGINS),
            ("Koordinator", _KOORDINATOR),
        )
        if name in names
    )
    for name in sorted({*_SCHEDULER_PLUGINS, *_KOORDINATOR})
}
"""Plugin name -> the projects that have such a plugin."""


def leave_out_missing(
    settings: Document,
    registry: PluginRegistry,
    findings: Findings,
    *,
    is_allowed: bool,
) -> Document:
    """Return a configuration without plugins that are not installed.

    Each is reported once, with the project that it comes from. A plugin of no known
    project is left for the checks that follow, which look for similar names.

    Args:
        settings: The configuration.
        registry: The installed plugins.
        findings: Collects mistakes, and warnings if plugins may be missing.
        is_allowed: Whether plugins may be missing; then all that are not installed are
            left out, also those of no known project.
    """
    places: dict[str, list[str]] = {}
    for path, name in _names(settings):
        if name not in registry and (is_allowed or name in ORIGINS):
            places.setdefault(name, []).append(path)
    for name, paths in places.items():
        report = findings.warn if is_allowed else findings.add
        report(paths[0], _message(name, len(paths) - 1, is_allowed))
    if not places:
        return settings
    profiles = tuple(
        _without(profile, frozenset(places), registry)
        if _is_profile(profile)
        else profile
        for profile in settings.profiles
    )
    return attrs.evolve(settings, profiles=profiles)


def _message(name: str, others: int, is_allowed: bool) -> str:
    origin = f"; it comes with {ORIGINS[name]}" if name in ORIGINS else ""
    also = f" (also named at {others} other places)" if others > 1 else ""
    also = " (also named at another place)" if others == 1 else also
    left = ", so it is left out" if is_allowed else ""
    return f"plugin {name!r} is not installed{left}{origin}{also}"


def _is_profile(profile: object) -> bool:
    """Whether a profile could be read; other mistakes are reported already."""
    return isinstance(profile, ProfileDocument)


def _names(settings: Document) -> Iterator[tuple[str, str]]:
    """The plugins that a configuration enables or configures, with their paths."""
    for index, profile in enumerate(settings.profiles):
        if not _is_profile(profile):
            continue
        path = f"profiles[{index}]"
        for key, plugin_set in profile.plugins.items():
            if isinstance(plugin_set, PluginSet):
                at = join_path(join_path(path, "plugins"), key)
                yield from _named(plugin_set.enabled, join_path(at, "enabled"))
        yield from _named(profile.plugin_config, join_path(path, "pluginConfig"))


def _named(entries: Sequence[object], path: str) -> Iterator[tuple[str, str]]:
    for number, entry in enumerate(entries):
        name = _name(entry)
        if name is not None:
            yield f"{path}[{number}].name", name


def _name(entry: object) -> str | None:
    """The plugin that an entry names; None if it has mistakes, which are reported."""
    return entry.name if isinstance(entry, PluginRef | PluginConfig) else None


def _without(
    profile: ProfileDocument, names: frozenset[str], registry: PluginRegistry
) -> ProfileDocument:
    """A profile without some plugins.

    Where a profile needs a plugin, the default one that they replaced is used again.
    """
    return attrs.evolve(
        profile,
        plugins={
            key: _set_without(key, plugin_set, names, registry)
            for key, plugin_set in profile.plugins.items()
        },
        plugin_config=tuple(
            config for config in profile.plugin_config if _name(config) not in names
        ),
    )


def _set_without(
    key: str, plugin_set: PluginSet, names: frozenset[str], registry: PluginRegistry
) -> PluginSet:
    if not isinstance(plugin_set, PluginSet):
        return plugin_set
    enabled = tuple(each for each in plugin_set.enabled if _name(each) not in names)
    disabled = plugin_set.disabled
    is_needed = key in NEEDED
    # The plugin that would have replaced the default one is gone, so the default one
    # must not stay disabled: a profile without queueSort or bind cannot be loaded.
    if is_needed and not enabled:
        disabled = ()
    elif not is_needed and len(enabled) < len(plugin_set.enabled):
        disabled = tuple(each for each in disabled if not _is_needed(each, registry))
    return PluginSet(enabled=enabled, disabled=disabled)


def _is_needed(entry: object, registry: PluginRegistry) -> bool:
    """Whether an entry names a plugin for a point where a profile needs one."""
    plugin = registry.get(_name(entry) or "")
    return plugin is not None and any(
        point.key in NEEDED for point in plugin.extension_points
    )
