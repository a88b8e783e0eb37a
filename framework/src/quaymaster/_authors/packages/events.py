"""The events that requeue the pods that a plugin rejects, in a word."""

import enum
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.cluster_events import ClusterEventWithHint
from quaymaster._core.registry.plugin_checks import marked_hooks
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.runtime.build import REJECTING_HOOKS

__all__ = ["EventsDeclaration", "declared_events", "registered_events"]

_REGISTERS: Final = "events_to_register"


class EventsDeclaration(enum.StrEnum):
    """How a plugin declares the events that may help the pods that it rejects."""

    UNNEEDED = "-"
    """It rejects no pods, and registers nothing."""

    ALL = "all"
    """It rejects pods and declares nothing: each event requeues them, which is slow."""

    NONE = "none"
    """It declares that there are none: its pods wait for the periodic flush, unless it
    calls `Handle.changed`."""

    LIST = "list"
    """It has a list."""

    UNKNOWN = "?"
    """It cannot be built without arguments, or fails."""


def declared_events(plugin: RegisteredPlugin) -> EventsDeclaration:
    """Return how a loadable plugin declares its events.

    Args:
        plugin: The plugin. If it registers events, it is built with default arguments.
    """
    hooks = set(marked_hooks(plugin.load()))
    if _REGISTERS not in hooks:
        rejects = not hooks.isdisjoint(REJECTING_HOOKS)
        return EventsDeclaration.ALL if rejects else EventsDeclaration.UNNEEDED
    events = registered_events(plugin)
    if events is None:
        return EventsDeclaration.UNKNOWN
    return EventsDeclaration.LIST if events else EventsDeclaration.NONE


def registered_events(
    plugin: RegisteredPlugin,
) -> Sequence[ClusterEventWithHint] | None:
    """Return the events that a plugin registers; None if it fails.

    Args:
        plugin: The plugin, which is built with default arguments.
    """
    if _REGISTERS not in marked_hooks(plugin.load()):
        return ()
    try:
        with _silent(), PluginHarness(plugin.load()) as harness:
            return harness.events()
    except QuaymasterError:
        return None


@contextmanager
def _silent() -> Iterator[None]:
    """Disable logging: the table shows the result."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
