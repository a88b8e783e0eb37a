"""Measures the handling of the cluster's changes, and the waits on Permit."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.binding.executor import Post
from quaymaster._core.binding.waiting_pods import Resolve, WaitingPods
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    EventResource,
    resource_of,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.engine.changes import node_changes
from quaymaster._core.engine.informers import ChangeHandler
from quaymaster._core.runtime.measured_hooks import status_label
from quaymaster._core.runtime.measures import Labels
from quaymaster._core.runtime.metrics import ONE_IN, SchedulerMetrics

__all__ = ["MeasuredChanges", "MeasuredWaits"]

_ACTIONS: Final[Mapping[tuple[bool, bool], ActionType]] = {
    (False, True): ActionType.ADD,
    (True, True): ActionType.UPDATE,
    (True, False): ActionType.DELETE,
}
"""(whether the object existed before, whether it exists now) -> the action."""

_PodLabels: TypeAlias = Mapping[tuple[bool, bool, bool], Labels]
"""(whether the pod existed before, exists now, has a node) -> the label."""


class MeasuredChanges:
    """Passes changes on, and measures one in ten; implements `ChangeHandler`.

    Args:
        handler: Handles the changes.
        metrics: Records the times.
        kubernetes: The version of Kubernetes that names the changes of pods.
    """

    def __init__(
        self, handler: ChangeHandler, metrics: SchedulerMetrics, kubernetes: Kubernetes
    ) -> None:
        self._changed: Callable[..., None] = handler.changed
        self._now = metrics.now
        self._events = metrics.events
        self._pod_labels = _pod_labels(kubernetes)
        self._sampling = metrics.sampling
        self._until_sample = ONE_IN

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """See `ChangeHandler.changed`."""
        self._until_sample -= 1
        if self._until_sample:
            self._changed(kind, old, new, missed=missed)
            return
        self._until_sample = ONE_IN
        self._sampling.begin(ONE_IN)
        start = self._now()
        try:
            self._changed(kind, old, new, missed=missed)
        finally:
            seconds = self._now() - start
            self._sampling.end()
        if kind is Pod:
            labels = self._pod_labels[_pod_change(old, new)]
            self._events[labels].observe(seconds, ONE_IN)
            return
        for label in _labels(kind, old, new):
            self._events[(label,)].observe(seconds, ONE_IN)


def _pod_labels(kubernetes: Kubernetes) -> _PodLabels:
    resources = {True: EventResource.ASSIGNED_POD}
    resources[False] = EventResource.UNSCHEDULABLE_POD
    if kubernetes.since("1.37"):
        resources[False] = EventResource.UNSCHEDULED_POD
    return {
        (*presence, has_node): (ClusterEvent(resource, action).label,)
        for has_node, resource in resources.items()
        for presence, action in _ACTIONS.items()
    }


def _pod_change(
    old: ApiObject | None, new: ApiObject | None
) -> tuple[bool, bool, bool]:
    current = old if new is None else new
    assert isinstance(current, Pod), "a change has at least one object"
    has_node = current.node_name != ""
    was_there = old is not None
    if was_there and has_node and isinstance(old, Pod) and new is not None:
        # Upstream reports a bind as an added assigned pod, not as an update.
        was_there = old.node_name != ""
    return was_there, new is not None, has_node


def _labels(
    kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None
) -> list[str]:
    """Return upstream's names of the change."""
    if isinstance(old, Node) and isinstance(new, Node):
        return [event.label for event in node_changes(old, new)]
    action = ActionType.UPDATE
    if old is None:
        action = ActionType.ADD
    elif new is None:
        action = ActionType.DELETE
    return [ClusterEvent(resource_of(kind), action).label]


class MeasuredWaits(WaitingPods):
    """Waiting pods whose waits are measured.

    Args:
        clock: Runs the deadlines.
        post: Puts a call into the engine's inbox, from any thread.
        metrics: Records the times.
    """

    def __init__(self, clock: Clock, post: Post, metrics: SchedulerMetrics) -> None:
        super().__init__(clock, post)
        self._metrics = metrics

    def add(self, pod: Pod, timeouts: Mapping[str, float], resolve: Resolve) -> None:
        """See `WaitingPods`."""
        metrics = self._metrics
        start = metrics.now()

        def resolved(status: Status | None) -> None:
            metrics.permits[(status_label(status),)].observe(metrics.now() - start)
            resolve(status)

        super().add(pod, timeouts, resolved)
