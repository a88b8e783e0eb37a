"""Drains: pods are evicted from nodes, as far as disruption budgets allow it.

Mirrors ``pkg/drain`` (kubectl v0.36) with ``--ignore-daemonsets``,
``--delete-emptydir-data`` and ``--force``: refused evictions are retried every five
seconds, one node after the other. Unlike kubectl, the drain continues with the other
nodes if a node cannot be emptied in time.
"""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._core.contract.cluster import (
    ApiError,
    NotFoundError,
    TooManyRequestsError,
)
from quaymaster._studies.changes.change import Effect, Evicted, RefusedEviction
from quaymaster._studies.changes.cordoning import set_cordons
from quaymaster._studies.changes.node_choice import chosen_nodes
from quaymaster._studies.changes.pods import (
    is_made_anew,
    is_of_daemon_set,
    is_of_node,
    pods_on,
)
from quaymaster._studies.simulation.run import Simulation

__all__ = ["DRAIN_TIMEOUT_SECONDS", "Drain", "Draining"]

DRAIN_TIMEOUT_SECONDS: Final = 600.0
"""How long a drain retries, for each node."""

_RETRY_SECONDS: Final = 5.0  # upstream's ``EvictErrorRetryDelay``
_DAEMON: Final = "DaemonSet-managed"
_STATIC: Final = "run by the node itself"
_TOO_LATE: Final = "not evicted in time"
_STILL_ENDING: Final = "still ending when the time was over"


@attrs.frozen(kw_only=True)
class Drain:
    """Cordons nodes and evicts their pods, as ``kubectl drain`` does.

    Pods of DaemonSets and static pods stay. Pods without a controller are evicted, too.

    Attributes:
        nodes: A name, or a label selector as kubectl's.
        timeout_seconds: How long refused evictions are retried, for each node.
        grace_period_seconds: Overrides the pods' own grace periods, if not None.
    """

    nodes: str
    timeout_seconds: float = DRAIN_TIMEOUT_SECONDS
    grace_period_seconds: float | None = None

    def __str__(self) -> str:
        return f"drain {self.nodes}"

    def apply(self, simulation: Simulation) -> Effect:
        """Evict the pods that may leave now, and set timers for the others."""
        cluster = simulation.cluster
        nodes = chosen_nodes(self.nodes, cluster.list(Node).items, self)
        effect = Effect(change=str(self), at=simulation.now)
        effect.objects += set_cordons(cluster, nodes, cordoned=True)
        names = [node.name for node in nodes]

        def end() -> None:
            effect.ended = simulation.now

        Draining(self, simulation, effect, names, end).next_node()
        return effect


class Draining:
    """A drain in progress.

    Args:
        drain: The requested change.
        simulation: The simulation.
        effect: Receives what happens.
        nodes: The names of the nodes that must still be drained.
        on_end: Called when the last node is empty, or its time is over.
    """

    def __init__(
        self,
        drain: Drain,
        simulation: Simulation,
        effect: Effect,
        nodes: Sequence[str],
        on_end: Callable[[], None],
    ) -> None:
        self._drain = drain
        self._on_end = on_end
        self._simulation = simulation
        self._cluster = simulation.cluster
        self._effect = effect
        self._nodes = list(nodes)
        self._node = ""
        self._until = 0.0
        self._open: dict[str, Pod] = {}
        self._ending: dict[str, Pod] = {}

    def next_node(self) -> None:
        """Start to drain the next node, or end after the last."""
        if not self._nodes:
            self._on_end()
            return
        self._node = self._nodes.pop(0)
        self._until = self._cluster.clock.now() + self._drain.timeout_seconds
        self._open = {pod.key: pod for pod in self._leaving()}
        self._ending = {}
        self._turn()

    def _leaving(self) -> list[Pod]:
        """Return the pods that must leave the node, and note those that stay."""
        pods = []
        for pod in pods_on(self._cluster, self._node):
            # As in kubectl's `daemonSetFilter`, a finished pod need not stay.
            if is_of_daemon_set(pod) and not pod.is_finished:
                self._effect.stayed[pod.key] = _DAEMON
            elif is_of_node(pod):
                self._effect.stayed[pod.key] = _STATIC
            else:
                pods.append(pod)
        return pods

    def _turn(self) -> None:
        """Evict the remaining pods, then wait for them or for the next retry."""
        for pod in list(self._open.values()):
            self._try(pod)
        gone = [pod for pod in self._ending.values() if self._current(pod) is None]
        for pod in gone:
            del self._ending[pod.key]
            self._note_gone(pod)
        if not self._open and not self._ending:
            self.next_node()
            return
        now, clock = self._cluster.clock.now(), self._cluster.clock
        if now >= self._until:
            self._give_up()
            return
        due = now + _RETRY_SECONDS if self._open else self._end_of_grace()
        # At least a second later: a pod may still exist when its grace period ends.
        clock.call_at(min(max(due, now + 1.0), self._until), self._turn)

    def _end_of_grace(self) -> float:
        """Return when the grace period of the last terminating pod ends."""
        current = map(self._current, self._ending.values())
        ends = [pod.metadata.deletion_timestamp or 0.0 for pod in current if pod]
        return max(ends, default=0.0)

    def _try(self, pod: Pod) -> None:
        if self._current(pod) is None:
            del self._open[pod.key]
            self._note_gone(pod)
            return
        try:
            self._cluster.evict(
                pod.key, grace_period_seconds=self._drain.grace_period_seconds
            )
        except NotFoundError:
            del self._open[pod.key]
        except TooManyRequestsError as error:
            self._refused(pod, str(error), error.cause)
        except ApiError as error:
            # Like kubectl: such an error is not retried.
            self._refused(pod, str(error), "")
            self._effect.stayed[pod.key] = str(error)
            del self._open[pod.key]
        else:
            self._evicted(pod)

    def _evicted(self, pod: Pod) -> None:
        effect, now = self._effect, self._simulation.now
        del self._open[pod.key]
        self._ending[pod.key] = pod
        effect.evicted.append(Evicted(pod=pod.key, node=self._node, at=now))
        if not pod.is_finished and not is_made_anew(pod, self._cluster):
            effect.unmanaged.append(pod.key)

    def _refused(self, pod: Pod, message: str, cause: str) -> None:
        now = self._simulation.now
        refusal = self._effect.refused.get(pod.key)
        if refusal is None:
            self._effect.refused[pod.key] = RefusedEviction(
                pod=pod.key,
                node=self._node,
                message=message,
                cause=cause,
                first=now,
                last=now,
            )
        else:
            refusal.message, refusal.cause = message, cause
            refusal.times, refusal.last = refusal.times + 1, now

    def _note_gone(self, pod: Pod) -> None:
        refused = self._effect.refused.get(pod.key)
        if refused is not None:
            refused.is_gone = True

    def _give_up(self) -> None:
        for key in self._open:
            self._effect.stayed[key] = _TOO_LATE
        for key in self._ending:
            self._effect.stayed[key] = _STILL_ENDING
        self.next_node()

    def _current(self, pod: Pod) -> Pod | None:
        """Return the current pod; None if it is gone, or another pod has its name."""
        try:
            current = self._cluster.get(Pod, pod.key)
        except NotFoundError:
            return None
        return current if current.uid == pod.uid else None
