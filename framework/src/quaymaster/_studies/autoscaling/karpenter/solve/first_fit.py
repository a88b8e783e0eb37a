"""Where a solve would place plain pods on nodes that exist, found without a solve.

Mirrors ``addToExistingNode`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling/scheduler.go``) for pods whose place depends
on their requests, labels and taints alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    fits,
    subtract_from,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.solve.node_facts import NodesOfSolve
from quaymaster._studies.autoscaling.karpenter.solve.plain_pods import PlainPod, PodKind

__all__ = ["FirstFit", "UnknownPlaceError"]


class UnknownPlaceError(Exception):
    """Only a solve finds out where a pod goes."""


class FirstFit:
    """Places plain pods on the first nodes that they fit on, as a solve does.

    Args:
        state: The cluster.
        nodes: All nodes that stay.
    """

    def __init__(self, state: ClusterState, nodes: NodesOfSolve) -> None:
        self._state = state
        self._nodes = nodes
        self._facts = nodes.facts
        self._changed: dict[int, bool] = {}

    def places(
        self, pods: Iterable[tuple[PlainPod, bool]], excluded: Collection[int]
    ) -> Iterator[int | None]:
        """Yield the place of the node of each pod; None for a pod without one.

        Args:
            pods: The pods, and whether each avoids nodes whose pods have changed
                lately.
            excluded: The places of nodes that get none.

        Raises:
            UnknownPlaceError: The place of a pod depends on more than this class reads.
        """
        # Room only shrinks, so a node without room for a pod has none for the next
        # pod of the same kind.
        steps: dict[tuple[PodKind, bool], int] = {}
        free: dict[int, Amounts] = {}
        for pod, avoids_changed in pods:
            kind = pod.kind
            listed = self._nodes.places_for(kind)
            step = steps.get((kind, avoids_changed), 0)
            while step < len(listed) and not (
                listed[step] not in excluded
                and not (avoids_changed and self._has_changed(listed[step]))
                and self._has_room(listed[step], kind, free)
            ):
                step += 1
            steps[kind, avoids_changed] = step
            if step == len(listed):
                yield None
                continue
            place = listed[step]
            if place not in free:
                free[place] = self._facts[place].free.copy()
            subtract_from(free[place], kind.requests)
            yield place

    def _has_room(self, place: int, kind: PodKind, free: Mapping[int, Amounts]) -> bool:
        facts = self._facts[place]
        if not fits(kind.requests, free.get(place, facts.free)):
            return False
        # A node with too many volumes gets no pod at all.
        if facts.has_volumes:
            raise UnknownPlaceError
        return True

    def _has_changed(self, place: int) -> bool:
        """Return whether the pods of a node have changed lately."""
        changed = self._changed.get(place)
        if changed is None:
            node = self._facts[place].node
            pool = self._state.pools.get(node.pool)
            changed = node.is_under_consolidate_after(pool, self._state.now)
            self._changed[place] = changed
        return changed
