"""Which events wake the pods that a plugin rejects, in a word."""

import enum
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.cluster_events import ClusterEventWithHint
from quaymaster._core.registry.plugin_checks import marked_hooks
from quaymaster._core.registry.registry import RegisteredPlugin
from quaymaster._core.runtime.build import REJECTING_HOOKS

__all__ = ["EventsTold", "events_told", "registered_events"]

_REGISTERS: Final = "events_to_register"


class EventsTold(enum.StrEnum):
    """What a plugin says of the events that may help the pods that it rejects."""

    UNNEEDED = "-"
    """It rejects no pods, and registers nothing."""

    ALL = "all"
    """It rejects pods and does not say: each event wakes them, which is slow."""

    NONE = "none"
    """It says that there are none: its pods wait for the flush, unless it calls
    `Handle.changed`."""

    LIST = "list"
    """It has a list."""

    UNKNOWN = "?"
    """It cannot be asked without arguments, or fails."""


def events_told(plugin: RegisteredPlugin) -> EventsTold:
    """Return what a plugin that can be loaded says of events.

    Args:
        plugin: The plugin. If it registers events, it is built with default arguments.
    """
    hooks = set(marked_hooks(plugin.load()))
    if _REGISTERS not in hooks:
        rejects = not hooks.isdisjoint(REJECTING_HOOKS)
        return EventsTold.ALL if rejects else EventsTold.UNNEEDED
    events = registered_events(plugin)
    if events is None:
        return EventsTold.UNKNOWN
    return EventsTold.LIST if events else EventsTold.NONE


def registered_events(
    plugin: RegisteredPlugin,
) -> Sequence[ClusterEventWithHint] | None:
    """Return the events that a plugin registers; None if it cannot say.

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
    """Log nothing: the table says it."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
