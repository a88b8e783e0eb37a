"""The lives of pods on nodes: volumes, image pulls, start, end and grace periods."""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod, PodStatus
from quaymaster._clusters.inmemory.attachments import Attachments
from quaymaster._clusters.inmemory.durations import LONGEST_SECONDS
from quaymaster._clusters.inmemory.image_pulls import ImagePulls
from quaymaster._clusters.inmemory.kubelet import Kubelet
from quaymaster._clusters.inmemory.pod_times import PodTimes
from quaymaster._clusters.inmemory.run_times import RunTimes
from quaymaster._core.contract.clock import Clock

__all__ = ["PodLives"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_SECONDS_TO_GO: Final = 1.0
"""How long a pod that was loaded as terminating stays at least. It is part of the
input, however old the input is, so the first decisions must see it."""


class _Store(Protocol):
    """Stores objects, and applies the consequences of changes."""

    clock: Clock

    def objects(self, kind: type[ObjT]) -> Mapping[str, ObjT]:
        """Return the stored objects of a kind by key."""

    def change(self, old: ObjT, new: ObjT) -> ObjT:
        """Replace a stored object."""

    def let_go(self, obj: ApiObject) -> None:
        """Remove an object, or mark it as deleted while it has finalizers."""

    def let_go_if_due(self, obj: ApiObject) -> None:
        """Remove a deleted object that has just lost its last finalizer."""


class PodLives:
    """Starts and ends pods as the kubelets of their nodes do.

    Args:
        store: Stores the pods.
        runs_pods: Whether bound pods run.
        times: How long pods need to start and to end.

    Attributes:
        runs_pods: Whether bound pods run.
        attachments: The volumes that are attached to nodes, and pods that wait.
        silent: The names of nodes whose kubelets do not answer: pods neither start nor
            end there.
    """

    def __init__(self, store: _Store, times: PodTimes, *, runs_pods: bool) -> None:
        self.runs_pods = runs_pods
        self.attachments = Attachments(store.objects)
        self.silent: set[str] = set()
        self._store = store
        self._clock = store.clock
        self._pods = store.objects(Pod)
        self._kubelet = Kubelet(
            store.clock, self._start_pod, self._end_pod, runs_pods, times
        )
        self._pulls: ImagePulls | None = None
        if runs_pods and times.pull_bytes_per_second is not None:
            rate = times.pull_bytes_per_second
            self._pulls = ImagePulls(store.clock, rate, store.objects(Node))

    def bind(self, pod: Pod, node_name: str) -> tuple[PodStatus, float]:
        """Return the status of a pod that is being bound, and when it starts.

        Returns:
            The status, and the seconds until `start_later` has to start the pod; 0 if
            it has started, or waits for volumes or for the kubelet.
        """
        if pod.spec.volumes and self.attachments.add(pod, node_name):
            # A kubelet pulls images once the volumes are attached.
            return self._kubelet.waiting(pod.status), 0.0
        seconds = self._seconds_to_start(pod, node_name)
        # On a silent node nothing starts; `catch_up_on` does it later.
        if seconds and node_name not in self.silent:
            return self._kubelet.starting(pod.status, seconds), seconds
        return self._bound(pod.status, node_name), seconds

    def start_later(self, pod: Pod, seconds: float) -> None:
        """Start a bound pod after some seconds."""
        self._kubelet.start_later(pod, seconds)

    def follow(self, pod: Pod) -> None:
        """End a running pod after the run time in its annotations."""
        self._kubelet.follow(pod)

    @property
    def run_times(self) -> RunTimes | None:
        """What ends pods that run for a limited time; None for the kubelet."""
        return self._kubelet.run_times

    def use_run_times(self, run_times: RunTimes) -> None:
        """Let a model end pods that run for a limited time."""
        self._kubelet.run_times = run_times
        for pod in [pod for pod in self._pods.values() if pod.node_name]:
            self._kubelet.follow(pod)

    def created(self, pod: Pod) -> PodStatus:
        """Return the status of a pod that is created with a node."""
        if pod.spec.volumes and not pod.is_finished:
            # A pod of a dump that runs has its volumes, whatever the other objects look
            # like.
            may_wait = pod.status.phase == "Pending"
            if self.attachments.add(pod, pod.node_name, may_wait=may_wait):
                return self._kubelet.waiting(pod.status)
        return self._bound(pod.status, pod.node_name)

    def resume(self, pod: Pod) -> None:
        """Resume the timers that a loaded pod had in its own cluster."""
        if self._pulls is not None:
            self._pulls.hold(pod)
        if pod.is_terminating:
            self.remove_later(pod, at_least=_SECONDS_TO_GO)
        # Also for a terminating pod: its work may end before its grace period.
        self._kubelet.follow(pod)

    def detach(self, pod: Pod) -> None:
        """Detach the volumes of a pod that has ended, and start pods that wait."""
        self._start_waiting(self.attachments.remove(pod))

    def claim_changed(self, claim: str) -> None:
        """Start the pods that a change of a claim lets start."""
        self._start_waiting(self.attachments.claim_changed(claim))

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Follow the images of a node."""
        if self._pulls is not None:
            self._pulls.node_changed(old, new)

    def catch_up_on(self, node_name: str) -> None:
        """Start and end the pods of a node whose kubelet answers again."""
        pods = self._pods.values()
        for pod in [pod for pod in pods if pod.node_name == node_name]:
            if pod.is_terminating:
                # Only if the grace period is over; otherwise its timer ends it.
                self._store.let_go_if_due(pod)
                continue
            if self.attachments.is_waiting(pod.uid):
                continue
            seconds = self._seconds_to_start(pod, node_name)
            if seconds and pod.status.phase == "Pending":
                self._kubelet.start_later(pod, seconds)
                continue
            self._begin(pod)

    def remove_later(self, pod: Pod, at_least: float = 0.0) -> None:
        """Remove a terminating pod at the end of its grace period."""
        metadata = pod.metadata
        now = self._clock.now()
        # The time may be another cluster's; only the length of the grace period is
        # used.
        grace = metadata.deletion_grace_period_seconds or 0
        longest = float(min(grace, LONGEST_SECONDS))
        latest = now + self._kubelet.seconds_to_end(pod, longest)
        due = max(now + at_least, min(metadata.deletion_timestamp or now, latest))
        self._clock.call_at(due, partial(self._end_grace, pod.key, metadata.uid))

    def _start_waiting(self, keys: Iterable[str]) -> None:
        """Start pods that have waited for volumes."""
        for key in keys:
            pod = self._pods[key]
            seconds = self._seconds_to_start(pod, pod.node_name)
            # Written now: no timer will ever start this pod.
            if math.isinf(seconds):
                status = self._kubelet.starting(pod.status, seconds)
                self._store.change(pod, replace(pod, status=status))
            self._kubelet.start_later(pod, seconds)

    def _seconds_to_start(self, pod: Pod, node_name: str) -> float:
        """Return how long a pod needs until it is ready, and begin its pulls."""
        seconds = self._kubelet.seconds_to_start(pod)
        if self._pulls is None or node_name in self.silent:
            return seconds
        return self._pulls.seconds(pod, node_name) + seconds

    def _bound(self, status: PodStatus, node_name: str) -> PodStatus:
        """Return the status of a pod from the moment of its binding."""
        if node_name in self.silent:
            return self._kubelet.waiting(status)
        return self._kubelet.bound(status)

    def _end_grace(self, key: str, uid: str) -> None:
        pod = self._pods.get(key)
        # A new pod may have this key by now.
        if pod is None or pod.metadata.uid != uid or pod.node_name in self.silent:
            return
        self._store.let_go(pod)

    def _begin(self, pod: Pod) -> None:
        begun = replace(pod, status=self._kubelet.bound(pod.status))
        self._kubelet.follow(pod if begun == pod else self._store.change(pod, begun))

    def _start_pod(self, key: str, uid: str) -> None:
        pod = self._pods.get(key)
        if pod is None or pod.metadata.uid != uid or pod.is_terminating:
            return
        if pod.node_name not in self.silent:
            self._begin(pod)

    def _end_pod(self, key: str, uid: str) -> None:
        pod = self._pods.get(key)
        if pod is None or pod.metadata.uid != uid or pod.is_finished:
            return
        if pod.node_name in self.silent:
            return
        ended = replace(pod, status=self._kubelet.ended(pod.status))
        ended = self._store.change(pod, ended)
        # Nothing is left to wait for.
        if ended.is_terminating:
            self._store.let_go(ended)
