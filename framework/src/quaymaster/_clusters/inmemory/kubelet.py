"""The kubelets of the in-memory cluster: they start and end pods that are bound.

A pod without a start-up time runs from the moment it is bound: its start is part of the
write that binds it. Other pods are ``Pending`` until they are ready. A pod that never
becomes ready runs from the moment it is bound.

A pod with the annotation ``simulation.quaymaster.io/run-seconds`` succeeds that long
after its start, all others run until they are deleted.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, PodCondition, PodStatus, Time
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION, run_seconds
from quaymaster._clusters.inmemory.pod_times import PodTimes
from quaymaster._clusters.inmemory.run_times import RunTimes
from quaymaster._core.contract.clock import Clock

__all__ = ["Kubelet", "with_condition", "with_kubelet_labels"]

_SCHEDULED: Final = PodCondition(type="PodScheduled", status="True")
_READY: Final = PodCondition(type="Ready", status="True")
_NOT_READY: Final = PodCondition(
    type="Ready", status="False", reason="ContainersNotReady"
)
_COMPLETED: Final = PodCondition(type="Ready", status="False", reason="PodCompleted")


class Kubelet:
    """Starts and ends the pods of all nodes.

    Args:
        clock: The cluster's time.
        on_start: Called with key and uid of a pod whose start-up time has ended.
        on_end: Called with key and uid of a pod whose run time has ended.
        runs_pods: Whether bound pods start at all; otherwise they stay pending.
        times: How long pods need to start and to end.

    Attributes:
        run_times: What ends pods that run for a limited time; None for the kubelet.
    """

    def __init__(
        self,
        clock: Clock,
        on_start: Callable[[str, str], None],
        on_end: Callable[[str, str], None],
        runs_pods: bool,
        times: PodTimes,
    ) -> None:
        self.run_times: RunTimes | None = None
        self._clock = clock
        self._on_start = on_start
        self._on_end = on_end
        self._runs_pods = runs_pods
        self._times = times
        self._starts: dict[float, list[tuple[str, str]]] = {}
        # Each kind of change has a memo of its own: they alternate, and a memo holds
        # one status.
        self._bound = _StatusMemo(_running if runs_pods else _scheduled)
        self._waiting = _StatusMemo(_scheduled)
        self._unready = _StatusMemo(_running_unready)
        self._ended = _StatusMemo(_succeeded)

    def waiting(self, status: PodStatus) -> PodStatus:
        """Return the status of a pod that is bound to a node which does not answer."""
        if status.phase != "Pending":
            return status
        return self._waiting.at(status, self._clock.now())

    def seconds_to_start(self, pod: Pod) -> float:
        """Return how long a pod needs from its binding until it is ready."""
        return self._times.until_ready(pod) if self._runs_pods else 0.0

    def seconds_to_end(self, pod: Pod, grace_seconds: float) -> float:
        """Return how long a deleted pod needs to end, at most its grace period."""
        return self._times.until_ended(pod, grace_seconds)

    def starting(self, status: PodStatus, seconds: float) -> PodStatus:
        """Return the status of a pod at its binding, if it needs time to start."""
        if status.phase != "Pending":
            return self.bound(status)
        # A pod that never becomes ready runs nevertheless: its containers start, and
        # its probes fail.
        memo = self._unready if math.isinf(seconds) else self._waiting
        return memo.at(status, self._clock.now())

    def start_later(self, pod: Pod, seconds: float) -> None:
        """Call for the start of a pod after a time; never if that is infinite."""
        if math.isinf(seconds):
            return
        due = self._clock.now() + seconds
        # Pods that start together share one timer.
        starts = self._starts.get(due)
        if starts is None:
            starts = self._starts[due] = []
            self._clock.call_at(due, partial(self._start, due))
        starts.append((pod.key, pod.metadata.uid))

    def _start(self, due: float) -> None:
        for key, uid in self._starts.pop(due):
            self._on_start(key, uid)

    def bound(self, status: PodStatus) -> PodStatus:
        """Return the status of a pod at its binding; unchanged if it has run.

        A pod that is only marked as Running, without conditions, is assumed to be
        ready.
        """
        phase = status.phase
        if phase != "Pending" and (phase != "Running" or status.conditions):
            return status
        return self._bound.at(status, self._clock.now())

    def ended(self, status: PodStatus) -> PodStatus:
        """Return the status of a pod whose containers have all succeeded."""
        return self._ended.at(status, self._clock.now())

    def follow(self, pod: Pod) -> None:
        """Set a timer that ends a running pod after its run time."""
        annotations = pod.metadata.annotations
        if RUN_SECONDS_ANNOTATION not in annotations or pod.status.phase != "Running":
            return
        seconds = run_seconds(annotations)
        if seconds is None or not self._runs_pods:
            return
        now = self._clock.now()
        start = pod.status.start_time
        # A start in the future, of another cluster's clock, would let the pod run too
        # long.
        begun = now if start is None else min(start, now)
        key, uid = pod.key, pod.metadata.uid
        if self.run_times is not None:
            self.run_times.follow(pod, begun, seconds, partial(self._on_end, key, uid))
            return
        # A loaded pod may have run long enough already; it ends now, not in the past.
        due = max(begun + seconds, now)
        self._clock.call_at(due, partial(self._end_by_timer, key, uid))

    def _end_by_timer(self, key: str, uid: str) -> None:
        # A timer may be older than what ends pods now.
        if self.run_times is None:
            self._on_end(key, uid)


class _StatusMemo:
    """Shares a status between the pods that get it at the same moment."""

    __slots__ = ("_after", "_before", "_change", "_now")

    def __init__(self, change: Callable[[PodStatus, Time], PodStatus]) -> None:
        self._change = change
        self._now: float | None = None
        self._before: PodStatus | None = None
        self._after = PodStatus()

    def at(self, before: PodStatus, now: float) -> PodStatus:
        # Identity: pods of one template have one status object; values never change.
        if self._now != now or self._before is not before:
            self._after = self._change(before, Time(now))
            self._before, self._now = before, now
        return self._after


def with_kubelet_labels(node: Node) -> Node:
    """Return a node with the labels that its kubelet sets, where missing.

    A node whose name is still to be generated gets no host name: kubelets always have
    one.
    """
    labels, name = node.metadata.labels, node.metadata.name
    well_known = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    if name:
        well_known = {"kubernetes.io/hostname": name, **well_known}
    if labels.keys() >= well_known.keys():
        return node
    # labels| Labels that the input has win.
    return replace(node, metadata=replace(node.metadata, labels=well_known | labels))


def with_condition(
    conditions: tuple[PodCondition, ...], new: PodCondition, now: Time
) -> tuple[PodCondition, ...]:
    """Return the conditions with one replaced or added.

    As in ``UpdatePodCondition`` (Kubernetes v1.36, ``pkg/api/v1/pod/util.go``), the
    time of transition is now only if the status changes.
    """
    for index, old in enumerate(conditions):
        if old.type == new.type:
            since = old.last_transition_time if old.status == new.status else now
            new = replace(new, last_transition_time=since)
            return (*conditions[:index], new, *conditions[index + 1 :])
    return (*conditions, replace(new, last_transition_time=now))


def _scheduled(before: PodStatus, now: Time) -> PodStatus:
    return replace(
        before,
        phase="Pending",
        nominated_node_name="",
        conditions=with_condition(before.conditions, _SCHEDULED, now),
    )


def _running(before: PodStatus, now: Time) -> PodStatus:
    conditions = with_condition(before.conditions, _SCHEDULED, now)
    return replace(
        before,
        phase="Running",
        nominated_node_name="",
        start_time=now if before.start_time is None else before.start_time,
        conditions=with_condition(conditions, _READY, now),
    )


def _running_unready(before: PodStatus, now: Time) -> PodStatus:
    running = _running(before, now)
    conditions = with_condition(running.conditions, _NOT_READY, now)
    return replace(running, conditions=conditions)


def _succeeded(before: PodStatus, now: Time) -> PodStatus:
    conditions = with_condition(before.conditions, _COMPLETED, now)
    return replace(before, phase="Succeeded", conditions=conditions)
