"""The pods of one rollout: new pods, old pods, and what they wait for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import DaemonSet, Deployment, Pod, StatefulSet
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.controllers.availability import ready_since
from quaymaster._clusters.inmemory.controllers.replica_scaling import replicas_of
from quaymaster._clusters.inmemory.controllers.stateful_set_claims import ordinals
from quaymaster._clusters.inmemory.controllers.stateful_sets import has_replica
from quaymaster._core.contract.queueing import QueueName
from quaymaster._studies.simulation.history import PodLife
from quaymaster._studies.simulation.run import Simulation

__all__ = ["RolloutPods", "RolloutWorkload"]

RolloutWorkload: TypeAlias = Deployment | StatefulSet | DaemonSet

_TRIED_SOON: Final = (QueueName.ACTIVE, QueueName.BACKOFF, QueueName.ERROR_BACKOFF)


@attrs.frozen(kw_only=True)
class RolloutPods:
    """The pods of a workload that rolls out a template.

    Attributes:
        simulation: The simulation.
        owner: The workload.
        new_lives: The history of the pods of its current template.
        old_lives: The history of its other pods.
        new: The pods of its current template that exist and have not ended.
        old: Its other pods that exist and have not ended.
    """

    simulation: Simulation
    owner: RolloutWorkload
    new_lives: Sequence[PodLife]
    old_lives: Sequence[PodLife]
    new: Sequence[Pod]
    old: Sequence[Pod]

    @property
    def desired(self) -> int:
        """How many pods should have the current template."""
        owner = self.owner
        if isinstance(owner, Deployment):
            return replicas_of(owner)
        if isinstance(owner, StatefulSet):
            return max(0, len(ordinals(owner)) - _partition(owner))
        return len(self.new) + len(self.old)

    @property
    def is_complete(self) -> bool:
        """Whether all required pods are new and available.

        Mirrors ``DeploymentComplete`` (``pkg/controller/deployment/util``) and the
        status viewers of ``kubectl rollout status`` (Kubernetes v1.37).
        """
        new = _active(self.new)
        available = sum(map(self._is_available, new))
        owner = self.owner
        if isinstance(owner, StatefulSet):
            pods = [
                pod
                for pod in (*new, *_active(self.old))
                if has_replica(owner, pod.name)
            ]
            ready = sum(map(self._is_available, pods))
            return ready >= len(ordinals(owner)) and len(new) >= self.desired
        if isinstance(owner, DaemonSet):
            is_short = bool(self.simulation.cluster.why_short(owner))
            return available == self.desired and not is_short
        return available == len(new) == self.desired and not _active(self.old)

    @property
    def was_complete(self) -> bool:
        """Whether no old pod is left, and as many new pods as required ran together.

        A rollout that is complete does not begin again when pods are lost later.
        """
        old = self.old if isinstance(self.owner, DaemonSet) else _active(self.old)
        if self.desired == 0 or (old and not isinstance(self.owner, StatefulSet)):
            return False
        unavailable = {pod.uid for pod in self.new if not self._is_available(pod)}
        lives = [life for life in self.new_lives if life.pod.uid not in unavailable]
        return _most_together(lives) >= self.desired

    @property
    def is_moving(self) -> bool:
        """Whether a pod is about to become available, to end or to be tried."""
        return any(map(self._is_moving, (*self.new, *self.old)))

    @property
    def pending(self) -> list[Pod]:
        """The new pods that have no node."""
        return [pod for pod in self.new if not pod.node_name]

    def progress(self) -> Iterator[float]:
        """Yield when new pods were created and became available, and old pods deleted.

        Mirrors ``DeploymentProgressing`` (``pkg/controller/deployment/util``,
        Kubernetes v1.37). The times are seconds since the beginning.
        """
        simulation = self.simulation
        offset = simulation.now - simulation.cluster.clock.now()
        for life in self.new_lives:
            yield life.created
        for life in self.old_lives:
            gone = life.gone if life.leaving is None else life.leaving
            if gone is not None:
                yield gone
        for pod in (*self.new, *self.old):
            since = ready_since(pod)
            if since is not None:
                yield offset + since
                if self._is_available(pod):
                    yield offset + since + self.owner.spec.min_ready_seconds

    def message(self) -> str:
        """Explain what keeps the rollout from its end."""
        parts = [part for part in self._about_new() if part]
        parts = parts or [part for part in self._about_old() if part]
        return (
            "; ".join(parts)
            or f"{len(_active(self.new))} of {self.desired} pods updated"
        )

    def _about_new(self) -> Iterator[str]:
        yield self._pending_text(self.pending, "new pod")
        unready = [
            pod
            for pod in _active(self.new)
            if pod.node_name and not self._is_available(pod)
        ]
        if unready:
            whys = filter(None, map(self.simulation.cluster.why_not_started, unready))
            why = _most_common(whys)
            text = f"{counted(len(unready), 'new pod')} not ready"
            yield f"{text}: {why}" if why else text
        yield from self._about_leaving(self.new, "new pod")
        yield self.simulation.cluster.why_short(self.owner)

    def _about_old(self) -> Iterator[str]:
        pending = [pod for pod in self.old if not pod.node_name]
        yield self._pending_text(pending, "old pod")
        yield from self._about_leaving(self.old, "old pod")

    def _about_leaving(self, pods: Sequence[Pod], noun: str) -> Iterator[str]:
        leaving = [pod for pod in pods if pod.is_terminating]
        if leaving:
            names = ", ".join(sorted({pod.node_name for pod in leaving}))
            yield f"{counted(len(leaving), noun)} terminating on {names}"

    def _pending_text(self, pods: Sequence[Pod], noun: str) -> str:
        if not pods:
            return ""
        whys = (self.simulation.unscheduled(pod).message for pod in pods)
        return f"{counted(len(pods), noun)} pending: {_most_common(whys)}"

    def _is_available(self, pod: Pod) -> bool:
        since = ready_since(pod)
        if since is None or pod.is_terminating:
            return False
        now = self.simulation.cluster.clock.now()
        return since + self.owner.spec.min_ready_seconds <= now

    def _is_moving(self, pod: Pod) -> bool:
        cluster = self.simulation.cluster
        if pod.node_name in cluster.silent_nodes:
            return False
        if pod.is_terminating:
            return True
        if not pod.node_name:
            return self._is_tried_soon(pod)
        if ready_since(pod) is not None:
            return not self._is_available(pod)
        # A pod that never becomes ready is Running.
        return pod.status.phase == "Pending" and not cluster.why_not_started(pod)

    def _is_tried_soon(self, pod: Pod) -> bool:
        """Whether a pod is about to be tried, or waits for victims of a preemption."""
        queued = self.simulation.scheduler.queue.why_pending(pod.key)
        is_due = queued is not None and queued.queue in _TRIED_SOON
        return is_due or bool(pod.status.nominated_node_name)


def _partition(owner: StatefulSet) -> int:
    rolling = owner.spec.update_strategy.rolling_update
    return 0 if rolling is None else rolling.partition or 0


def _active(pods: Sequence[Pod]) -> list[Pod]:
    return [pod for pod in pods if not pod.is_terminating]


def _most_together(lives: Sequence[PodLife]) -> int:
    """Return how many pods had a node at the same time, at most."""
    changes: list[tuple[float, int]] = []
    for life in lives:
        if life.bound is not None:
            changes.append((life.bound, 1))
            ends = (life.leaving, life.ran_until)
            end = min((time for time in ends if time is not None), default=None)
            if end is not None:
                changes.append((end, -1))
    count = most = 0
    # At the same moment, -1 sorts before 1: a pod and the one that it replaces do not
    # run together.
    for _, change in sorted(changes):
        count += change
        most = max(most, count)
    return most


def _most_common(texts: Iterator[str]) -> str:
    return next((text for text, _ in Counter(texts).most_common(1)), "")
