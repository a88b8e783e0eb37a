"""Says whether a scheduler's refusal stays true when there are more pods and nodes.

Every plugin registers what may make the pods schedulable that it refuses. If that is
nothing but other nodes, and pods that leave, then a pod that got no empty node of some
kind gets none beside other pods, either.
"""

from collections.abc import Sequence
from typing import Final

from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
)
from quaymaster._studies.simulation.results import UnscheduledPod
from quaymaster._studies.simulation.run import Simulation

__all__ = ["is_final"]

_NOT_HELPED: Final = ("SchedulingGated", "NoProfile")
_STILL: Final = (EventResource.NODE, EventResource.DEVICE_CLASS)
"""What a plan does not change, but for the number of nodes."""
_PODS: Final = (
    EventResource.POD,
    EventResource.ASSIGNED_POD,
    EventResource.UNSCHEDULED_POD,
    EventResource.TARGET_POD,
    EventResource.UNSCHEDULABLE_POD,
)
_LEAVING: Final = (
    ActionType.DELETE
    | ActionType.UPDATE_POD_SCALE_DOWN
    | ActionType.UPDATE_POD_TOLERATION
)
"""Changes of pods that no pod that comes makes."""


def is_final(verdict: UnscheduledPod | None, simulation: Simulation) -> bool:
    """Whether more nodes like those of a simulation, or more pods, change nothing.

    Args:
        verdict: The verdict about a pod that got no node; None if it got one.
        simulation: The simulation of the verdict, with only DaemonSets on the nodes.
    """
    if verdict is None:
        return False
    if verdict.reason in _NOT_HELPED:
        return True
    framework = simulation.scheduler.frameworks.get(verdict.scheduler)
    return (
        framework is not None
        and bool(verdict.plugins)
        and all(
            _waits_for_nodes(framework.profile.events.get(plugin))
            for plugin in verdict.plugins
        )
    )


def _waits_for_nodes(events: Sequence[ClusterEventWithHint] | None) -> bool:
    """Whether nothing but nodes, and pods that leave, wakes what a plugin refuses."""
    return bool(events) and all(_is_still(event.event) for event in events or ())


def _is_still(event: ClusterEvent) -> bool:
    if event.resource in _PODS:
        return not event.action & ~_LEAVING
    return event.resource in _STILL
