"""Plays the calls of tests to plugins."""

from collections.abc import Sequence
from functools import cache

from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    play_case,
)

__all__ = ["play"]


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Make the calls of a case to a plugin.

    Raises:
        CallNotPlayedError: There is no such plugin here.
    """
    name = case.tree.get("on")
    if name is None:
        raise CallNotPlayedError("a helper of plugins in Go")
    if name not in _registry():
        raise CallNotPlayedError(f"the plugin {name} does not exist here")
    return play_case(_registry()[name].load(), case)


@cache
def _registry() -> PluginRegistry:
    return PluginRegistry.discover()
