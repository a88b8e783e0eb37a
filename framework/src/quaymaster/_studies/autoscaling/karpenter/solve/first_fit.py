"""Where a solve places plain pods on nodes that exist, with a few comparisons a pod.

Mirrors ``addToExistingNode`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling/scheduler.go``) for pods whose place depends
on their requests, labels and taints alone.
"""

from collections.abc import Collection

from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    fits,
    subtract_from,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.solve.node_facts import (
    NodeFacts,
    NodesOfSolve,
)
from quaymaster._studies.autoscaling.karpenter.solve.plain_pods import PodKind
from quaymaster._studies.autoscaling.karpenter.solve.volumes import VolumeUsage

__all__ = ["FirstFit"]


class FirstFit:
    """Places plain pods on the first nodes that they fit on.

    Args:
        state: The cluster.
        nodes: All nodes that stay.
        excluded: The places of nodes that get no pods.
    """

    def __init__(
        self, state: ClusterState, nodes: NodesOfSolve, excluded: Collection[int]
    ) -> None:
        self._state = state
        self._nodes = nodes
        self._facts = nodes.facts
        self._excluded = excluded
        # Room only shrinks, so a node without room for a pod has none for the next pod
        # of the same kind.
        self._steps: dict[tuple[PodKind, bool], int] = {}
        self._free: dict[int, Amounts] = {}

    def place(self, kind: PodKind, *, avoids_changed: bool) -> int | None:
        """Place a pod; return the place of its node, or None without one.

        Args:
            kind: The kind of the pod.
            avoids_changed: Whether it avoids nodes whose pods have changed lately.
        """
        listed = self._nodes.places_for(kind)
        step = self._steps.get((kind, avoids_changed), 0)
        while step < len(listed) and not (
            listed[step] not in self._excluded
            and not (avoids_changed and self._has_changed(listed[step]))
            and self._has_room(listed[step], kind)
        ):
            step += 1
        self._steps[kind, avoids_changed] = step
        if step == len(listed):
            return None
        place = listed[step]
        if place not in self._free:
            self._free[place] = self._facts[place].free.copy()
        subtract_from(self._free[place], kind.requests)
        return place

    def _has_room(self, place: int, kind: PodKind) -> bool:
        facts = self._facts[place]
        has_room = fits(kind.requests, self._free.get(place, facts.free))
        return has_room and not (facts.has_volumes and self._is_overfull(facts))

    def _is_overfull(self, facts: NodeFacts) -> bool:
        """Return whether a node has too many volumes, and gets no pod at all."""
        overfull = self._state.cache.setdefault("overfull", {})
        if facts not in overfull:
            node = facts.node
            name = node.node.name if node.node is not None else ""
            usage = VolumeUsage.of_node(
                self._state, name, node.pods, facts.volume_limits
            )
            overfull[facts] = bool(usage.problem_with({}))
        return bool(overfull[facts])

    def _has_changed(self, place: int) -> bool:
        """Return whether the pods of a node have changed lately."""
        node = self._facts[place].node
        pool = self._state.pools.get(node.pool)
        return node.is_under_consolidate_after(pool, self._state.now)
