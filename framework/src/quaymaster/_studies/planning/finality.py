"""Decides whether a rejection stays true with more pods and nodes.

Every plugin registers the events that may help the pods that it rejects. Suppose that
these are only new nodes and deleted pods. Then a pod that does not fit on an empty node
of a kind does not fit there with other pods, either.
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
"""The kinds that a plan does not change, except for the number of nodes."""
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
"""Changes of pods that new pods do not cause."""


def is_final(verdict: UnscheduledPod | None, simulation: Simulation) -> bool:
    """Whether a verdict stays true with more pods and more nodes of the same kinds.

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
    """Whether only nodes and deleted pods requeue the pods that a plugin rejects."""
    return bool(events) and all(_is_still(event.event) for event in events or ())


def _is_still(event: ClusterEvent) -> bool:
    if event.resource in _PODS:
        return not event.action & ~_LEAVING
    return event.resource in _STILL
