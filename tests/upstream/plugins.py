"""Plays the calls of tests to plugins."""

import json
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

_NAMES: Final[Mapping[str, str]] = {"TopologyPlacement": "TopologyPlacementGenerator"}
"""The name of a plugin in the records -> its name here, and in configurations."""

_READERS: Final[Mapping[str, str]] = {
    "DefaultPreemption": "GenericWorkload",
    "DynamicResources": "DRAWorkloadResourceClaims",
    "GangScheduling": "GenericWorkload",
}
"""Plugin that reads the groups of pods -> the gate with which it does."""

_WITHOUT_GROUPS: Final = ("EventsToRegister", "Hint")
"""Calls whose answer does not depend on the objects of groups."""

_WITHOUT_TREES: Final = ("EventsToRegister", "PlacementFeasible")
"""Calls whose answer does not depend on the groups above or below a group."""
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
    if name is None:
        return plugin_helpers.play(case)
    name = _NAMES.get(name, name)
    if _lacks_groups(case, name):
        raise CallNotPlayedError("the record lacks the groups of the pods")
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


def _lacks_groups(case: RecordedCase, plugin: str) -> bool:
    """Whether pods are in groups that the plugin reads, and no call has a group."""
    tree = case.tree
    gates = tree.get("gates", {})
    calls = {call["call"] for call in tree["calls"]}
    text = json.dumps(tree)
    if gates.get("CompositePodGroup") and not calls.issubset(_WITHOUT_TREES):
        return '"schedulingGroup"' in text or '"minGroupCount"' in text or "cpg" in text
    if not gates.get(_READERS.get(plugin, "")) or calls.issubset(_WITHOUT_GROUPS):
        return False
    return '"schedulingGroup"' in text and '"PodGroup": {"PodGroup"' not in text


@cache
def _filters() -> Sequence[type]:
    """Return the filters of the default profile, which a preemption runs again."""
    [profile] = default_config(_registry()).profiles
    return [_registry()[plugin.name].load() for plugin in profile.plugins["filter"]]


@cache
def _registry() -> PluginRegistry:
    return PluginRegistry.discover()
