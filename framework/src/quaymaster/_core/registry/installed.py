"""The registry of the installed plugins, for callers that name none."""

import functools
from typing import Final

from quaymaster._core.registry.kinds import KIND_GROUP
from quaymaster._core.registry.observers import OBSERVER_GROUP
from quaymaster._core.registry.offers import Offer, offers
from quaymaster._core.registry.registry import GROUP, PluginRegistry

__all__ = ["installed_plugins"]

_GROUPS: Final = (GROUP, KIND_GROUP, OBSERVER_GROUP)


def installed_plugins() -> PluginRegistry:
    """Return the installed plugins; the same object until something is installed.

    If a plugin could not be used, the next call finds the plugins again: it may have
    been repaired.

    Raises:
        DuplicatePluginError: Two distributions offer the same plugin.
    """
    everything = tuple(tuple(offers(group)) for group in _GROUPS)
    registry = _discovered(everything)
    if any(plugin.has_failed for plugin in registry.values()):
        # A failed import may succeed the next time: its author may have fixed it while
        # an interactive session goes on.
        _discovered.cache_clear()
        registry = _discovered(everything)
    return registry


@functools.lru_cache(maxsize=1)
def _discovered(_offers: tuple[tuple[Offer, ...], ...]) -> PluginRegistry:
    return PluginRegistry.discover()
