"""Brings the conditions of claims up to date.

Mirrors ``pkg/controllers/nodeclaim/disruption`` and
``pkg/controllers/nodeclaim/podevents`` (sigs.k8s.io/karpenter v1.15).
"""

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod, Time
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.autoscaling.karpenter.claim_objects import (
    with_condition,
    without_condition,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.drift import drift_reason
from quaymaster._studies.autoscaling.karpenter.disruption.unchanged import (
    condition_holds_until,
)
from quaymaster._studies.autoscaling.karpenter.listed_nodes import ListedNodes
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodePool,
    is_true,
)
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import is_daemon_pod

__all__ = ["ClaimConditions", "PodEvents"]

_CONSOLIDATABLE: Final = "Consolidatable"
_DRIFTED: Final = "Drifted"
_EVENT_SECONDS: Final = 10.0


class ClaimConditions:
    """Writes the conditions ``Consolidatable`` and ``Drifted``.

    Args:
        cluster: The cluster.
        options: The options of Karpenter.
    """

    def __init__(self, cluster: InMemoryCluster, options: KarpenterOptions) -> None:
        self._cluster = cluster
        self._options = options
        self._seen = ListedNodes(())
        # Those whose claims are not right yet, and until when the others are, if time
        # alone may change that.
        self._open: set[StateNode] = set()
        self._until: dict[StateNode, float] = {}
        self._sources: Sequence[object] = ()

    def refresh(self, state: ClusterState) -> bool:
        """Write the conditions that have changed; return whether any has."""
        # With 1,800 nodes, looking at all of them took 3 ms for each of some 30,000
        # states a day.
        sources, now = [*_sources(state)], state.now
        if _are_same(sources, self._sources):
            gone, new = state.nodes.changes_since(self._seen)
            due = {node for node, until in self._until.items() if until <= now}
            self._open = (self._open | due | new) - gone
            for node in gone | due:
                self._until.pop(node, None)
        else:
            self._open, self._until, self._sources = {*state.nodes}, {}, sources
        self._seen = state.nodes
        changes = []
        for node in sorted(self._open, key=_place_of):
            changed = self._changed(node, state)
            if changed is not None:
                changes.append(self._cluster.update(changed))
        return bool(changes)

    @property
    def hold_until(self) -> float:
        """Until when time alone does not change the conditions of the last refresh."""
        return min(self._until.values(), default=math.inf)

    def _changed(self, node: StateNode, state: ClusterState) -> NodeClaim | None:
        """Return the stored claim of a node with its conditions, or None."""
        pool = state.pools.get(node.pool)
        if node.claim is None or pool is None or node.is_deleted:
            self._open.discard(node)
            return None
        stored = self._cluster.get(NodeClaim, node.claim.name)
        changed = self._consolidatable(stored, node, pool, state.now)
        changed = self._drifted(changed, node.claim, pool, state)
        # Identity: the functions return the same claim if nothing changes.
        if changed is not stored:
            return changed
        self._open.discard(node)
        until = condition_holds_until(node, pool, state.now)
        if until < math.inf:
            self._until[node] = until
        return None

    def _consolidatable(
        self, stored: NodeClaim, node: StateNode, pool: NodePool, now: float
    ) -> NodeClaim:
        is_initialized = is_true(stored.status.conditions, "Initialized")
        is_enabled = pool.spec.disruption.consolidate_after_seconds is not None
        if pool.is_static:
            return stored
        if (
            not is_enabled
            or not is_initialized
            or node.is_under_consolidate_after(pool, now)
        ):
            return without_condition(stored, _CONSOLIDATABLE)
        return with_condition(stored, _CONSOLIDATABLE, now)

    def _drifted(
        self, stored: NodeClaim, claim: NodeClaim, pool: NodePool, state: ClusterState
    ) -> NodeClaim:
        reason = ""
        if is_true(claim.status.conditions, "Launched"):
            reason = drift_reason(
                pool,
                claim,
                state.instance_types.get(pool.name, ()),
                state.now,
                self._options.reservation_label,
            )
        if not reason:
            return without_condition(stored, _DRIFTED)
        return with_condition(stored, _DRIFTED, state.now, reason)


def _place_of(node: StateNode) -> int:
    return node.place


def _sources(state: ClusterState) -> Iterator[object]:
    """Yield what conditions follow from, besides machines."""
    yield from state.pools.values()
    yield from (state.instance_types.get(name) for name in state.pools)


def _are_same(before: Sequence[object], now: Sequence[object]) -> bool:
    # Identity: an object of the cluster that has changed is another object.
    return len(before) == len(now) and all(map(operator.is_, before, now))


class PodEvents:
    """Notes when pods come to nodes, end, or are deleted.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self._pods: dict[str, tuple[str, bool]] = {
            pod.key: _life_of(pod) for pod in cluster.list(Pod).items
        }

    def see(self, pod: Pod, claims: Mapping[str, str]) -> None:
        """Look at a pod that has changed.

        Args:
            pod: The pod.
            claims: The claim of each node.
        """
        before = self._pods.get(pod.key, ("", False))
        after = self._pods[pod.key] = _life_of(pod)
        if after == before or not pod.node_name or is_daemon_pod(pod):
            return
        self._note(claims.get(pod.node_name, ""))

    def gone(self, key: str, claims: Mapping[str, str]) -> None:
        """Note that a pod has gone."""
        node, _ = self._pods.pop(key, ("", True))
        self._note(claims.get(node, ""))

    def _note(self, name: str) -> None:
        try:
            claim = self._cluster.get(NodeClaim, name)
        except NotFoundError:
            return
        now, last = self._cluster.clock.now(), claim.status.last_pod_event_time
        # Upstream writes at most every ten seconds.
        if last is not None and 0 <= now - last < _EVENT_SECONDS:
            return
        status = replace(claim.status, last_pod_event_time=Time(now))
        self._cluster.update(replace(claim, status=status))


def _life_of(pod: Pod) -> tuple[str, bool]:
    """Return the node of a pod, and whether it has ended or is ending."""
    return pod.node_name, pod.is_finished or pod.is_terminating
