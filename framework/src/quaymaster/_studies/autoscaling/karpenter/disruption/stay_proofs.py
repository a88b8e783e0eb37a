"""Which single nodes surely cannot be consolidated, found without trials.

Most nodes are full, and in a large cluster a look would otherwise make a trial for
each: 96 % of 33,000 trials in two hours of a day.
"""

from collections.abc import Mapping, Sequence

from quaymaster._studies.autoscaling.karpenter.amounts import Amounts, added
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Candidate,
    Shape,
)
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.solve.node_facts import (
    NodesOfSolve,
    nodes_of_solve,
)
from quaymaster._studies.autoscaling.karpenter.solve.templates import Supply, supply_of

__all__ = ["may_go", "surely_staying"]


def may_go(supply: Supply, homeless: Amounts, price: float) -> bool:
    """Return whether nodes may go some of whose pods get no node that has started.

    Args:
        supply: What new nodes can be.
        homeless: What these pods request together.
        price: What the nodes cost.
    """
    # With a node that has not started, or without any, the trial fails. Otherwise all
    # of these pods share one new node, which must cost less.
    return any(
        template.may_hold_for_less(homeless, price) for template in supply.templates
    )


def surely_staying(
    state: ClusterState, options: KarpenterOptions, candidates: Sequence[Candidate]
) -> Sequence[Candidate]:
    """Return the nodes that surely cannot go alone, in their order."""
    supply = supply_of(state, options)
    proofs = state.latest.get("proofs")
    # Identity: a supply is the same object until something of it changes.
    if not isinstance(proofs, _Proofs) or proofs.supply is not supply:
        proofs = state.latest["proofs"] = _Proofs(supply)
    return proofs.of(nodes_of_solve(state, options, supply, ()), candidates)


class _Proofs:
    """The proofs of earlier looks.

    With 1,800 nodes, proofs for all of them took 30 ms a look. Few nodes have changed
    since the last one, and whether some node has room for pods changes seldom.
    """

    def __init__(self, supply: Supply) -> None:
        self.supply = supply
        self._shapes: dict[Shape, Amounts] = {}
        self._homeless: frozenset[Shape] = frozenset()
        self._lone: Mapping[Shape, str] = {}
        self._stay: dict[Candidate, bool] = {}
        self._latest: dict[Candidate, tuple[frozenset[Shape], bool]] = {}

    def of(
        self, nodes: NodesOfSolve, candidates: Sequence[Candidate]
    ) -> Sequence[Candidate]:
        for candidate in candidates:
            if candidate not in self._latest:
                self._shapes.update((shape, dict(shape)) for shape in candidate.shapes)
        self._look_at(nodes)
        stay = self._stay
        for candidate in candidates:
            if candidate not in stay:
                stay[candidate] = self._stays(candidate)
        if len(self._latest) > 2 * len(candidates) + 100:
            self._forget_others(candidates)
        return [each for each in candidates if stay[each]]

    def _look_at(self, nodes: NodesOfSolve) -> None:
        """Find the shapes of pods that no node has room for, and those that one has."""
        found = nodes.started_with_room([*self._shapes.values()])
        rooms = dict(zip(self._shapes, found, strict=True))
        homeless = frozenset(shape for shape, (count, _) in rooms.items() if not count)
        lone = {shape: name for shape, (count, name) in rooms.items() if count == 1}
        if (homeless, lone) != (self._homeless, self._lone):
            self._homeless, self._lone, self._stay = homeless, lone, {}

    def _stays(self, candidate: Candidate) -> bool:
        shapes = candidate.shapes.keys()
        homeless = self._homeless & shapes
        # The only node with room may be the candidate itself.
        homeless |= {
            shape
            for shape in self._lone.keys() & shapes
            if self._lone[shape] == candidate.name
        }
        before = self._latest.get(candidate)
        if before is not None and before[0] == homeless:
            return before[1]
        total: Amounts = {}
        for shape in homeless:
            total = added(total, candidate.shapes[shape])
        stays = bool(total) and not may_go(self.supply, total, candidate.price)
        self._latest[candidate] = homeless, stays
        return stays

    def _forget_others(self, candidates: Sequence[Candidate]) -> None:
        self._latest = {each: self._latest[each] for each in candidates}
        self._stay = {each: self._stay[each] for each in candidates}
        self._shapes = {
            shape: dict(shape) for each in candidates for shape in each.shapes
        }
