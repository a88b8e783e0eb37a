"""NodePools with a fixed number of nodes.

Mirrors ``pkg/controllers/static`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Callable, Sequence
from typing import Final

from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.karpenter.amounts import NODES
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.costs import (
    lifetime_remaining,
    reschedule_cost,
)
from quaymaster._studies.autoscaling.karpenter.labels import NODE_POOL
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodePool,
    is_true,
)
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import (
    is_daemon_pod,
    is_disruptable,
)
from quaymaster._studies.autoscaling.karpenter.solve.static_claims import static_claim

__all__ = ["StaticPools"]

_PERIOD_SECONDS: Final = 60.0


class StaticPools:
    """Keeps pools at their number of nodes.

    Args:
        cluster: The cluster.
        lifecycle: Orders machines.
        options: The options of Karpenter.
        read_state: Returns the state of the cluster.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        lifecycle: Lifecycle,
        options: KarpenterOptions,
        read_state: Callable[[], ClusterState],
    ) -> None:
        self._cluster = cluster
        self._clock = cluster.clock
        self._lifecycle = lifecycle
        self._options = options
        self._read_state = read_state
        self._is_due = False

    def start(self) -> None:
        """Look at all static pools, now and every minute."""
        self._repeat()

    def look_soon(self) -> None:
        """Look at all static pools, as pools or claims have changed."""
        if not self._is_due:
            self._is_due = True
            self._clock.call_at(self._clock.now(), self._look, background=True)

    def _repeat(self) -> None:
        self.look_soon()
        self._clock.call_later(_PERIOD_SECONDS, self._repeat, background=True)

    @property
    def is_short(self) -> bool:
        """Whether a pool can get nodes that it lacks."""
        return any(self._missing(pool) > 0 for pool in self._pools())

    def _pools(self) -> Sequence[NodePool]:
        return [
            pool
            for pool in self._cluster.list(NodePool).items
            if pool.is_static and pool.metadata.deletion_timestamp is None
        ]

    def _look(self) -> None:
        self._is_due = False
        for pool in self._pools():
            active, _ = self._claims_of(pool)
            surplus = len(active) - (pool.spec.replicas or 0)
            if surplus > 0:
                self._remove(active, surplus)
            elif pool.is_ready:
                self._add(pool, self._missing(pool))

    def _claims_of(self, pool: NodePool) -> tuple[Sequence[NodeClaim], int]:
        """Return the claims that stay, and the number of those being replaced."""
        staying, replaced = [], 0
        for claim in self._cluster.list(NodeClaim).items:
            if claim.labels.get(NODE_POOL) != pool.name or _is_leaving(claim):
                continue
            if is_true(claim.status.conditions, "DisruptionReason"):
                replaced += 1
            else:
                staying.append(claim)
        return staying, replaced

    def _missing(self, pool: NodePool) -> int:
        """Return how many nodes a pool lacks and may have."""
        active, replaced = self._claims_of(pool)
        replicas = pool.spec.replicas or 0
        if len(active) + replaced >= replicas:
            return 0
        missing = replicas - len(active)
        limit = pool.spec.limits.get(NODES)
        if limit is None:
            return missing
        return max(min(missing, limit.value - self._present(pool)), 0)

    def _present(self, pool: NodePool) -> int:
        """Return how many nodes a pool has, with those that are on their way out."""
        claims = self._cluster.list(NodeClaim).items
        return sum(claim.labels.get(NODE_POOL) == pool.name for claim in claims)

    def _add(self, pool: NodePool, count: int) -> None:
        if count <= 0:
            return
        claim = static_claim(self._read_state(), pool, self._options)
        if claim is None:
            return
        for _ in range(count):
            self._lifecycle.order(claim, f"one of {pool.spec.replicas} replicas")

    def _remove(self, active: Sequence[NodeClaim], surplus: int) -> None:
        """Delete claims: those not launched, then empty ones, then the cheapest."""
        state = self._read_state()
        waiting = [claim.name for claim in active if not claim.status.provider_id]
        names = {claim.name for claim in active}
        nodes = [
            node
            for node in state.nodes
            if node.claim is not None and node.claim.name in names
        ]
        nodes.sort(key=lambda node: _removal_order(node, state.now))
        ordered = [*waiting, *(node.claim.name for node in nodes if node.claim)]
        for name in ordered[:surplus]:
            self._lifecycle.machines[name].removed_for = "overprovisioned"
            self._cluster.delete(NodeClaim, name)


def _is_leaving(claim: NodeClaim) -> bool:
    return claim.metadata.deletion_timestamp is not None


def _removal_order(node: StateNode, now: float) -> tuple[bool, bool, float]:
    """Return what decides which node goes first: empty, unprotected, of low cost."""
    is_protected = not all(is_disruptable(pod, now) for pod in node.pods)
    is_empty = all(map(is_daemon_pod, node.pods)) and not is_protected
    claim = node.claim
    assert claim is not None  # the caller has looked
    age = now - (claim.metadata.creation_timestamp or now)
    remaining = lifetime_remaining(age, claim.spec.expire_after_seconds)
    return not is_empty, is_protected, reschedule_cost(node.pods) * remaining
