"""Plays the calls of tests to plugins."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    play_calls_with,
    play_case,
)
from tests.upstream import plugin_helpers
from tests.upstream.preemption import PreemptionPlayer
from tests.upstream.volume_binder import VolumeBinderPlayer

__all__ = ["play"]

_NO_GROUPS: Final = "the record lacks the PodGroups of the test"
_GATES: Final[Mapping[str, str]] = {
    "DeferredPodScheduling": (
        "the gate InPlacePodVerticalScalingSchedulerPreemption, alpha, not built"
    ),
}
"""Plugin that does not exist here -> its gate."""


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Make the calls of a case to a plugin.

    Raises:
        CallNotPlayedError: The plugin does not exist here.
    """
    name = case.tree.get("on")
    has_groups = "PodGroup" in case.tree.get("objects", ())
    if case.tree.get("gates", {}).get("GenericWorkload") and name and not has_groups:
        raise CallNotPlayedError(_NO_GROUPS)
    if name is None:
        return plugin_helpers.play(case)
    if name == "volumeBinder":
        return play_calls_with(lambda: VolumeBinderPlayer(case), case)
    if name == "DefaultPreemption":
        return play_calls_with(lambda: PreemptionPlayer(case, _filters()), case)
    if name not in _registry():
        gate = _GATES.get(name, "not built")
        raise CallNotPlayedError(f"the plugin {name}: {gate}")
    beside: Sequence[type] = ()
    if "DeviceClass" in case.tree.get("objects", ()) and name != "DynamicResources":
        beside = [_registry()["DynamicResources"].load()]  # it knows the allocations
    return play_case(_registry()[name].load(), case, beside=beside)


@cache
def _filters() -> Sequence[type]:
    """Return the filters of the default profile, which a preemption runs again."""
    [profile] = default_config(_registry()).profiles
    return [_registry()[plugin.name].load() for plugin in profile.plugins["filter"]]


@cache
def _registry() -> PluginRegistry:
    return PluginRegistry.discover()
