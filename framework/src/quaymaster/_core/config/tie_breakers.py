"""Checks the tie breaker of a profile."""

from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.lookup import usable_plugin
from quaymaster._core.config.model import RANDOM, TIE_BREAKERS
from quaymaster._core.contract.hookspecs import TieBreakPlugin
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["breaks_ties", "resolve_tie_breaker"]

_HOOK = TieBreakPlugin.break_tie.__name__


def breaks_ties(plugin: RegisteredPlugin) -> bool:
    """Whether a plugin, which can be loaded, has the hook that breaks ties."""
    return any(_HOOK in point.hooks for point in plugin.extension_points)


def resolve_tie_breaker(
    name: str, path: str, registry: PluginRegistry, findings: Findings
) -> str:
    """Return the tie breaker of a profile; the default if its own is not valid.

    Args:
        name: The tie breaker in the profile.
        path: Its path: ``profiles[0].tieBreaker``.
        registry: The installed plugins.
        findings: Collects mistakes.
    """
    if name in TIE_BREAKERS:
        return name
    if name not in registry:
        findings.add(path, _unknown(name, registry))
        return RANDOM
    plugin = usable_plugin(name, registry)
    if isinstance(plugin, str):
        findings.add(path, plugin)
    elif breaks_ties(plugin):
        return name
    else:
        findings.add(path, f"{plugin} has no hook {_HOOK!r}, so it breaks no ties")
    return RANDOM


def _unknown(value: str, registry: PluginRegistry) -> str:
    plugins = [
        name
        for name, plugin in registry.items()
        if plugin.error is None and breaks_ties(plugin)
    ]
    names = ", ".join(map(repr, TIE_BREAKERS))
    installed = ", ".join(plugins) or "none"
    return (
        f"expected {names} or a plugin with the hook {_HOOK!r} (installed: "
        f"{installed}), got {value!r}{did_you_mean(value, (*TIE_BREAKERS, *plugins))}"
    )
