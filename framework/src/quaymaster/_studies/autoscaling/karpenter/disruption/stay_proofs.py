"""Which single nodes surely cannot be consolidated, found without trials.

Most nodes are full, and in a large cluster a look would otherwise make a trial for
each: 96 % of 33,000 trials in two hours of a day.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Final

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
from quaymaster._studies.autoscaling.karpenter.solve.node_table import rounded_down
from quaymaster._studies.autoscaling.karpenter.solve.templates import Supply, supply_of

__all__ = ["may_go", "surely_staying"]

_SPARE: Final = 100


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
) -> Set[Candidate]:
    """Return the nodes that surely cannot go alone; others may be among them."""
    supply = supply_of(state, options)
    proofs = state.latest.get("proofs")
    if (
        not isinstance(proofs, _Proofs)
        # Identity: a supply is the same object until something of it changes.
        or proofs.supply is not supply
        or proofs.count > 2 * len(candidates) + _SPARE
    ):
        proofs = state.latest["proofs"] = _Proofs(supply)
    return proofs.of(nodes_of_solve(state, options, supply, ()), candidates)


class _Proofs:
    """The proofs of earlier looks.

    With 1,800 nodes, proofs for all of them took 30 ms a look. Few nodes have changed
    since the last one, and whether some node has room for pods changes seldom. Sets of
    shapes are integers: bit n is shape n.
    """

    def __init__(self, supply: Supply) -> None:
        self.supply = supply
        self._bits: dict[Shape, int] = {}
        self._requests: list[Mapping[str, int]] = []
        self._masks: dict[Candidate, int] = {}
        self._verdicts: dict[Candidate, dict[int, bool]] = {}
        # The latest candidate of each name.
        self._named: dict[str, Candidate] = {}
        self._homeless = 0
        self._lone: dict[str, int] = {}
        self._staying: set[Candidate] = set()

    @property
    def count(self) -> int:
        """How many nodes it keeps proofs of, with those that are gone."""
        return len(self._masks)

    def of(
        self, nodes: NodesOfSolve, candidates: Sequence[Candidate]
    ) -> Set[Candidate]:
        again = {*candidates} - self._masks.keys()
        for candidate in again:
            self._masks[candidate] = self._mask_of(candidate)
            self._verdicts[candidate] = {}
            self._named[candidate.name] = candidate
        again |= self._affected(nodes)
        self._staying -= again
        self._staying |= {each for each in again if self._stays(each)}
        return self._staying

    def _mask_of(self, candidate: Candidate) -> int:
        mask = 0
        for shape in candidate.shapes:
            if shape not in self._bits:
                self._bits[shape] = len(self._bits)
                self._requests.append(rounded_down(dict(shape)))
            mask |= 1 << self._bits[shape]
        return mask

    def _affected(self, nodes: NodesOfSolve) -> set[Candidate]:
        """Find the shapes without room; return the nodes with shapes that changed."""
        homeless = 0
        lone: dict[str, int] = {}
        rooms = nodes.started_with_room(self._requests)
        for bit, (count, name) in enumerate(rooms):
            if count == 0:
                homeless |= 1 << bit
            elif count == 1:
                lone[name] = lone.get(name, 0) | 1 << bit
        changed, before = homeless ^ self._homeless, self._lone
        self._homeless, self._lone = homeless, lone
        if not changed and before == lone:
            return set()
        names = {name for name, _ in before.items() ^ lone.items()}
        affected = {self._named[name] for name in names & self._named.keys()}
        if changed:
            masks = self._masks
            affected |= {each for each in masks if masks[each] & changed}
        return affected

    def _stays(self, candidate: Candidate) -> bool:
        # The only node with room may be the candidate itself.
        homeless = self._homeless | self._lone.get(candidate.name, 0)
        homeless &= self._masks[candidate]
        verdicts = self._verdicts[candidate]
        if homeless not in verdicts:
            total: Amounts = {}
            for shape, requests in candidate.shapes.items():
                if homeless >> self._bits[shape] & 1:
                    total = added(total, requests)
            verdicts[homeless] = bool(total) and not may_go(
                self.supply, total, candidate.price
            )
        return verdicts[homeless]
