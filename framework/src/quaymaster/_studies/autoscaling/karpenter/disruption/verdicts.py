"""The verdicts on nodes, kept from look to look while nothing changes them."""

import functools
import math
import operator
from bisect import bisect_left
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import TypeAlias

import attrs

from quaymaster._api.objects import PodDisruptionBudget
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Blocked,
    Candidate,
    in_order,
)
from quaymaster._studies.autoscaling.karpenter.disruption.unchanged import (
    node_holds_until,
)
from quaymaster._studies.autoscaling.karpenter.listed_nodes import ListedNodes
from quaymaster._studies.autoscaling.karpenter.objects import NodeOverlay

__all__ = ["Judged", "Verdict", "Verdicts", "verdicts_on"]

Verdict: TypeAlias = Candidate | Blocked


class Judged:
    """Each node as a candidate, or why it is none; in the order of the nodes.

    Args:
        usual: The candidates that count for consolidation only, as most nodes do.
        unusual: The other verdicts.

    Attributes:
        usual: The candidates that count for consolidation only, as most nodes do.
        unusual: The other verdicts.
    """

    def __init__(
        self, usual: Sequence[Candidate] = (), unusual: Sequence[Verdict] = ()
    ) -> None:
        self.usual = usual
        self.unusual = unusual

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> "Judged":
        """Return verdicts in the order of the nodes, apart by kind."""
        usual: list[Candidate] = []
        unusual: list[Verdict] = []
        for each in verdicts:
            if isinstance(each, Candidate) and each.is_usual:
                usual.append(each)
            else:
                unusual.append(each)
        return cls(usual, unusual)

    def with_others(
        self, gone: Iterable[StateNode], new: Iterable[Verdict]
    ) -> "Judged":
        """Return the verdicts without those on some nodes, and with others.

        Args:
            gone: Nodes that these verdicts are on.
            new: Verdicts on other nodes, in any order.
        """
        usual, unusual = [*self.usual], [*self.unusual]
        for node in gone:
            for verdicts in (usual, unusual):
                place = _place_in(verdicts, node)
                # Identity: it is on this node, or not among them.
                if place < len(verdicts) and verdicts[place].node is node:
                    del verdicts[place]
        for each in new:
            if isinstance(each, Candidate) and each.is_usual:
                usual.insert(_place_in(usual, each.node), each)
            else:
                unusual.insert(_place_in(unusual, each.node), each)
        return Judged(usual, unusual)

    @functools.cached_property
    def verdicts(self) -> Sequence[Verdict]:
        """All verdicts."""
        return sorted([*self.usual, *self.unusual], key=_place_of)

    @functools.cached_property
    def blocked(self) -> Sequence[tuple[StateNode, str]]:
        """The nodes that may not be disrupted and have an event, with its text."""
        return [
            (each.node, each.message)
            for each in self.unusual
            if isinstance(each, Blocked) and each.message
        ]

    @functools.cached_property
    def usual_in_order(self) -> Sequence[Candidate]:
        """The usual candidates, those that are best to disrupt first."""
        return in_order(self.usual)

    @functools.cached_property
    def candidates(self) -> Sequence[Candidate]:
        """The nodes that may be disrupted."""
        return [each for each in self.verdicts if isinstance(each, Candidate)]

    def candidate_of(self, node: StateNode) -> Candidate | None:
        """Return a node as a candidate, or None if it is none."""
        for verdicts in (self.usual, self.unusual):
            place = _place_in(verdicts, node)
            if place < len(verdicts):
                verdict = verdicts[place]
                # Identity: it is on this node, or there is none.
                if verdict.node is node and isinstance(verdict, Candidate):
                    return verdict
        return None


def _place_of(verdict: Verdict) -> int:
    return verdict.node.place


def _place_in(verdicts: Sequence[Verdict], node: StateNode) -> int:
    return bisect_left(verdicts, node.place, key=_place_of)


@attrs.frozen(kw_only=True, eq=False)
class Verdicts:
    """The verdicts on all nodes of a state.

    Attributes:
        nodes: The nodes.
        judged: The verdicts.
        until: When time may change what is found about nodes, for those it may change.
        sources: The objects that all verdicts follow from, besides nodes.
    """

    nodes: ListedNodes
    judged: Judged
    until: Mapping[StateNode, float]
    sources: Sequence[object]

    @functools.cached_property
    def holds_until(self) -> float:
        """When time may change what is found about some node; infinite for never."""
        return min(self.until.values(), default=math.inf)


def verdicts_on(state: ClusterState, judge: Callable[[StateNode], Verdict]) -> Verdicts:
    """Return the verdict on each node; most of them are those of an earlier state.

    Args:
        state: The cluster.
        judge: Makes the verdict on a node of this state.
    """
    # With 1,800 nodes, judging all of them took 30 ms for each of 8,640 looks a day,
    # between which a few nodes change.
    before, sources = state.latest.get("verdicts"), [*_sources(state)]
    if not isinstance(before, Verdicts) or not _are_same(before.sources, sources):
        before = Verdicts(
            nodes=ListedNodes(()), judged=Judged(), until={}, sources=sources
        )
    gone, new = state.nodes.changes_since(before.nodes)
    if before.holds_until <= state.now:
        again = {node for node, until in before.until.items() if until <= state.now}
        new |= again - gone
        gone |= again
    until = {node: before.until[node] for node in before.until.keys() - gone}
    for node in new:
        end = node_holds_until(node, state.pools.get(node.pool), state.now)
        if end < math.inf:
            until[node] = end
    verdicts = Verdicts(
        nodes=state.nodes,
        judged=before.judged.with_others(gone, map(judge, new)),
        until=until,
        sources=sources,
    )
    state.latest["verdicts"] = verdicts
    return verdicts


def _sources(state: ClusterState) -> Iterator[object]:
    yield from state.pools.values()
    yield from (state.instance_types.get(name) for name in state.pools)
    yield from state.all_of(NodeOverlay)
    yield from state.all_of(PodDisruptionBudget)


def _are_same(before: Sequence[object], now: Collection[object]) -> bool:
    # Identity: an object of the cluster that has changed is another object.
    return len(before) == len(now) and all(map(operator.is_, before, now))
