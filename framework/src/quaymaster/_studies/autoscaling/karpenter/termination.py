"""Drains the nodes of deleted claims, and ends their machines.

Mirrors ``pkg/controllers/node/termination`` (sigs.k8s.io/karpenter v1.15). Detached
volumes are not waited for.
"""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.tolerations import is_tolerated
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import ApiError, NotFoundError
from quaymaster._studies.autoscaling.karpenter.claim_objects import (
    with_condition,
    with_disrupted_taint,
)
from quaymaster._studies.autoscaling.karpenter.durations import nillable_seconds
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle
from quaymaster._studies.autoscaling.karpenter.objects import NodeClaim
from quaymaster._studies.autoscaling.karpenter.pods import (
    DISRUPTED_TAINT,
    is_daemon_pod,
    is_evictable,
    is_static_pod,
)

__all__ = ["Terminations"]

_LOOK_SECONDS: Final = 1.0
_LONGEST_WAIT: Final = 10.0
_MIN_DRAIN_SECONDS: Final = 5.0
_STUCK_SECONDS: Final = 60.0
_DEFAULT_GRACE_SECONDS: Final = 30.0
_CRITICAL: Final = frozenset({"system-cluster-critical", "system-node-critical"})


@attrs.define(eq=False)
class _Drain:
    """A node that is being drained.

    Attributes:
        claim: The name of its claim.
        since: When the drain began.
        deadline: When pods are deleted at the latest; None for never.
        wait: How long until the next look; longer while budgets refuse.
    """

    claim: str
    since: float
    deadline: float | None
    wait: float = _LOOK_SECONDS


class Terminations:
    """The claims that have been deleted, and whose machines still run.

    Args:
        cluster: The cluster.
        lifecycle: The machines.
        termination_seconds: How long a machine takes to go.
        ended: Called when a machine has gone.
        pods_on: Returns the pods on a node that have not ended.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        lifecycle: Lifecycle,
        termination_seconds: float,
        ended: Callable[[], None],
        pods_on: Callable[[str], Sequence[Pod]],
    ) -> None:
        self._cluster = cluster
        self._clock = cluster.clock
        self._lifecycle = lifecycle
        self._seconds = termination_seconds
        self._ended = ended
        self._read_pods = pods_on
        self._drains: dict[str, _Drain] = {}

    def __len__(self) -> int:
        return len(self._drains)

    def begin(self, claim: NodeClaim) -> None:
        """Begin with a claim that has been deleted; do nothing if that has begun."""
        if claim.name in self._drains:
            return
        now = self._clock.now()
        period = claim.spec.termination_grace_period
        seconds = None if period is None else nillable_seconds(period)
        deadline = None if seconds is None else now + seconds
        drain = _Drain(claim.name, now, deadline)
        self._drains[claim.name] = drain
        node = self._node(claim.name)
        if node is not None:
            self._cluster.update(with_disrupted_taint(node, is_disrupted=True))
        self._look(drain)

    def _look(self, drain: _Drain) -> None:
        node = self._node(drain.claim)
        if node is None:
            self._finish(drain)
            return
        now = self._clock.now()
        waiting = [pod for pod in self._pods_on(node.name) if not _is_gone(pod, now)]
        if waiting:
            self._evict(drain, waiting)
        elif now - drain.since >= _MIN_DRAIN_SECONDS:
            self._clock.call_later(self._seconds, lambda: self._finish(drain))
            return
        self._clock.call_later(drain.wait, lambda: self._look(drain), background=True)

    def _evict(self, drain: _Drain, waiting: Sequence[Pod]) -> None:
        """Evict the pods of the first group, and delete those that are overdue."""
        now = self._clock.now()
        overdue = [pod for pod in waiting if _is_overdue(pod, drain.deadline, now)]
        for pod in overdue:
            if not pod.is_terminating:
                self._cluster.delete(Pod, pod.key)
        others = [pod for pod in waiting if not _is_overdue(pod, drain.deadline, now)]
        rank = min(map(_rank, others), default=0)
        refused = [
            pod for pod in others if _rank(pod) == rank and not self._is_leaving(pod)
        ]
        # Upstream retries after a time that doubles, up to 10 s.
        longer = min(2 * drain.wait, _LONGEST_WAIT)
        drain.wait = longer if refused else _LOOK_SECONDS

    def _is_leaving(self, pod: Pod) -> bool:
        """Evict a pod; return whether it ends."""
        if pod.is_terminating:
            return True
        if not is_evictable(pod, self._clock.now()):
            return False
        try:
            self._cluster.evict(pod.key)
        except NotFoundError:
            return True
        except ApiError:
            return False
        return True

    def _finish(self, drain: _Drain) -> None:
        self._drains.pop(drain.claim, None)
        claim = self._lifecycle.claim(drain.claim)
        if claim is not None:
            now = self._clock.now()
            self._cluster.update(with_condition(claim, "InstanceTerminating", now))
        self._lifecycle.end(drain.claim, "its claim was deleted")
        self._ended()

    def _node(self, claim: str) -> Node | None:
        machine = self._lifecycle.machines.get(claim)
        return None if machine is None else self._lifecycle.node(machine.node)

    def _pods_on(self, name: str) -> Sequence[Pod]:
        return [self._cluster.get(Pod, pod.key) for pod in self._read_pods(name)]


def _is_gone(pod: Pod, now: float) -> bool:
    """Return whether a drain does not wait for a pod."""
    deletion = pod.metadata.deletion_timestamp
    is_stuck = deletion is not None and now - deletion > _STUCK_SECONDS
    is_tolerant = is_tolerated(DISRUPTED_TAINT, pod.spec.tolerations)
    return is_stuck or is_static_pod(pod) or is_tolerant


def _is_overdue(pod: Pod, deadline: float | None, now: float) -> bool:
    """Return whether a pod must end now to be gone at the deadline."""
    if deadline is None:
        return False
    grace = pod.spec.termination_grace_period_seconds
    return now >= deadline - (_DEFAULT_GRACE_SECONDS if grace is None else grace)


def _rank(pod: Pod) -> int:
    """Return in which group a pod is evicted."""
    # Plain pods, those of DaemonSets, then critical ones in the same order. Each group
    # ends before the next is evicted, so that logging and networking outlive the pods
    # that need them.
    is_critical = pod.spec.priority_class_name in _CRITICAL
    return 2 * is_critical + is_daemon_pod(pod)
