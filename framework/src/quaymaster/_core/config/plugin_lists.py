"""Resolves the plugins of a profile at each extension point."""

from collections.abc import Iterable, Mapping, Sequence

from quaymaster._base.suggestions import did_you_mean
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.document import PluginSet
from quaymaster._core.config.expand import expand
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.lookup import usable_plugin
from quaymaster._core.config.merge import Entry, EntrySets
from quaymaster._core.config.model import EnabledPlugin
from quaymaster._core.config.naming import join_path
from quaymaster._core.config.points import (
    GATED,
    LIMITS,
    PLUGIN_SETS,
    POINTS,
    WILDCARD,
)
from quaymaster._core.config.tie_breakers import breaks_ties
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["check_keys", "resolve_plugins", "warn_of_ranges"]

_INSTALL = "; pip install 'quaymaster[default]' installs what the default profile needs"

_NAMED_ELSEWHERE = "; a plugin that breaks ties is named in tieBreaker"


def check_keys(
    plugins: Mapping[str, object],
    path: str,
    findings: Findings,
    kubernetes: Kubernetes,
) -> None:
    """Report the keys of a profile's ``plugins`` that are not extension points."""
    for key, plugin_set in plugins.items():
        at = join_path(path, key)
        first = GATED.get(key)
        if first is not None and not kubernetes.since(first):
            problem = f"unknown extension point; Kubernetes {first} has it"
            findings.add(at, f"{problem}, and this is {kubernetes.version}")
        elif first is not None:
            if isinstance(plugin_set, PluginSet) and plugin_set.enabled:
                _check_enabled(key, at, findings, kubernetes)
        elif key not in PLUGIN_SETS:
            hint = did_you_mean(key, PLUGIN_SETS)
            hint = hint or f" (known: {', '.join(PLUGIN_SETS)})"
            findings.add(at, f"unknown extension point{hint}")


def _check_enabled(
    key: str, at: str, findings: Findings, kubernetes: Kubernetes
) -> None:
    """Report that plugins are enabled at a point that does not call them."""
    if not kubernetes.enabled(POINTS[key].gate):
        gate = f"the feature gate {POINTS[key].gate}, which is off"
        findings.warn(at, f"is never called: pod groups are behind {gate}")


def resolve_plugins(
    sets: EntrySets,
    path: str,
    registry: PluginRegistry,
    findings: Findings,
    kubernetes: Kubernetes,
) -> Mapping[str, tuple[EnabledPlugin, ...]]:
    """List the plugins of each extension point, in the order of their calls.

    Args:
        sets: The sets of the profile, merged with the defaults.
        path: Their path: ``profiles[0].plugins``.
        registry: The installed plugins.
        findings: Collects mistakes.
        kubernetes: The version of Kubernetes whose hooks exist.
    """
    before = len(findings)
    usable = _usable(sets, registry, findings)
    _warn_of_absent(sets, registry, findings)
    sets = {key: entries.keep(usable.__contains__) for key, entries in sets.items()}
    plugins = expand(sets, usable, findings, kubernetes)
    if len(findings) == before:  # else the counts may be wrong because of these
        _check_counts(plugins, path, findings)
    return plugins


def warn_of_ranges(
    names: Iterable[str], registry: PluginRegistry, findings: Findings
) -> None:
    """Warn of distributions that exclude the installed framework, once for each.

    Args:
        names: The plugins that a profile uses.
        registry: The installed plugins.
        findings: Collects warnings.
    """
    for name in sorted(names):
        plugin = registry.get(name)
        if plugin is not None and plugin.range_problem:
            findings.warn("", plugin.range_problem, "")


def _usable(
    sets: EntrySets, registry: PluginRegistry, findings: Findings
) -> Mapping[str, RegisteredPlugin]:
    usable: dict[str, RegisteredPlugin] = {}
    for entry in _enabled(sets):
        plugin = usable_plugin(entry.name, registry)
        if isinstance(plugin, str):
            # Users did not write the default profile. They need the command that
            # installs it and not a place in their file.
            is_default = entry.source != findings.source
            hint = _INSTALL if is_default and entry.name not in registry else ""
            findings.add(entry.path, plugin + hint, entry.source)
        else:
            usable[entry.name] = plugin
            if not any(point.key for point in plugin.extension_points):
                what = "has no hook of any extension point, so nothing would call it"
                hint = _NAMED_ELSEWHERE if breaks_ties(plugin) else ""
                findings.add(entry.path, f"{plugin} {what}{hint}", entry.source)
    return usable


def _enabled(sets: EntrySets) -> Iterable[Entry]:
    return (entry for entries in sets.values() for entry in entries.enabled)


def _warn_of_absent(
    sets: EntrySets, registry: PluginRegistry, findings: Findings
) -> None:
    for entries in sets.values():
        for entry in entries.disabled:
            if entry.name != WILDCARD and entry.name not in registry:
                hint = did_you_mean(entry.name, registry)
                message = f"no plugin {entry.name!r} is installed to disable{hint}"
                findings.warn(entry.path, message, entry.source)


def _check_counts(
    plugins: Mapping[str, Sequence[EnabledPlugin]], path: str, findings: Findings
) -> None:
    for key, (least, most) in LIMITS.items():
        names = [plugin.name for plugin in plugins[key]]
        if len(names) < least or (most is not None and len(names) > most):
            got = ", ".join(names) or "none"
            message = f"expected {_amount(least, most)} enabled plugin, got {got}"
            findings.add(join_path(path, key), message)


def _amount(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least}"
    return f"exactly {least}" if most == least else f"at most {most}"
