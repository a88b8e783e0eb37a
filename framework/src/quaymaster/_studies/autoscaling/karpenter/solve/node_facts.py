"""The nodes of a cluster before a solve, read once for many solves.

Mirrors ``NewExistingNode`` and ``calculateExistingNodeClaims`` (sigs.k8s.io/karpenter
v1.15, ``pkg/controllers/provisioning/scheduling``).
"""

import functools
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    add_amounts,
    requests_of,
    subtract_from,
    subtracted,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.labels import HOSTNAME, INSTANCE_TYPE
from quaymaster._studies.autoscaling.karpenter.listed_nodes import ListedNodes
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.node_table import (
    NodeTable,
    rounded_down,
)
from quaymaster._studies.autoscaling.karpenter.solve.plain_pods import PodKind
from quaymaster._studies.autoscaling.karpenter.solve.templates import Supply
from quaymaster._studies.autoscaling.karpenter.solve.topology_filter import NodeFilter
from quaymaster._studies.autoscaling.karpenter.solve.volumes import has_claims

__all__ = ["NodeFacts", "NodesOfSolve", "nodes_of_solve"]


@attrs.frozen(kw_only=True, eq=False)
class NodeFacts:
    """What a node is like before a solve.

    Attributes:
        node: The node.
        requirements: Its labels.
        node_labels: The labels of its Node; None until it has registered.
        daemon_requests: What the pods of DaemonSets request that should run there.
        free: What its pods and its DaemonSets leave.
        volume_limits: How many volumes a node of its type can attach.
        has_volumes: Whether its pods have volumes behind claims.
    """

    node: StateNode
    requirements: Requirements
    node_labels: Requirements | None
    daemon_requests: Amounts
    free: Amounts
    volume_limits: Mapping[str, int]
    has_volumes: bool

    @functools.cached_property
    def rounded_free(self) -> Mapping[str, int]:
        """What is free, as tables of nodes have it."""
        return rounded_down(self.free)


@attrs.frozen(kw_only=True, eq=False)
class _AllNodes:
    """All nodes that stay, those that have started first, then by name.

    Attributes:
        supply: What new nodes can be.
        nodes: All nodes, with those that will be gone.
        keys: What each node is sorted by.
        facts: What each node is like.
        requirements: The labels of each node.
        table: The same as a table.
        capacity: The capacity of the nodes of each pool.
    """

    supply: Supply
    nodes: ListedNodes
    keys: Sequence[tuple[bool, str]]
    facts: Sequence[NodeFacts]
    requirements: Sequence[Requirements]
    table: NodeTable
    capacity: Mapping[str, Amounts]
    _domains: dict[str, Counter[str]] = attrs.field(factory=dict)
    _rooms: dict[object, tuple[NDArray[np.bool_], int]] = attrs.field(factory=dict)
    _places: dict[PodKind, Sequence[int]] = attrs.field(factory=dict)

    @functools.cached_property
    def started(self) -> NDArray[np.bool_]:
        """Whether each node has started."""
        started: NDArray[np.bool_] = np.arange(len(self.keys)) < bisect_left(
            self.keys, (True, "")
        )
        return started

    @functools.cached_property
    def hosts(self) -> Counter[str]:
        """How many nodes have each name of a host."""
        return Counter(each.node.host_name for each in self.facts)

    def place_of(self, name: str) -> int | None:
        """Return the place of a node, or None."""
        for key in ((False, name), (True, name)):
            place = bisect_left(self.keys, key)
            if place < len(self.keys) and self.keys[place] == key:
                return place
        return None

    def room(self, requests: Amounts) -> tuple[NDArray[np.bool_], int]:
        """Return which nodes that have started may have room, and how many."""
        key = tuple(requests.items())
        room = self._rooms.get(key)
        if room is None:
            mask = self.table.with_room(requests) & self.started
            room = self._rooms[key] = mask, int(np.count_nonzero(mask))
        return room

    def places_for(self, kind: PodKind) -> Sequence[int]:
        """Return the places of the nodes that pods of a kind may fit on."""
        places = self._places.get(kind)
        if places is None:
            every = np.ones(len(self.facts), dtype=np.bool_)
            places = self._places[kind] = self.table.candidates(
                kind.requirements, kind.requests, kind.tolerations, every
            )
        return places

    def domains(self, key: str) -> Counter[str]:
        """Return how many nodes have each value of a label; do not change it."""
        if key not in self._domains:
            self._domains[key] = Counter(
                each.node.labels[key]
                for each in self.facts
                if each.node_labels is not None and key in each.node.labels
            )
        return self._domains[key]

    def changed(self, nodes: ListedNodes) -> "_AllNodes":
        """Return the same of other nodes."""
        gone, new = nodes.changes_since(self.nodes)
        gone = {node for node in gone if not node.marked_for_deletion}
        new = {node for node in new if not node.marked_for_deletion}
        if not gone and not new:
            return attrs.evolve(self, nodes=nodes)
        leaving = {node.name: bisect_left(self.keys, _key(node)) for node in gone}
        places = sorted(leaving.values())
        rows = np.delete(np.arange(len(self.keys)), places)
        keys, facts = [*self.keys], [*self.facts]
        requirements = [*self.requirements]
        for place in reversed(places):
            del keys[place], facts[place], requirements[place]
        newest = sorted(new, key=_key)
        rows = np.insert(rows, [bisect_left(keys, _key(node)) for node in newest], -1)
        inserted = {}
        for node in newest:
            earlier = leaving.get(node.name)
            before = None if earlier is None else self.facts[earlier]
            place = bisect_left(keys, _key(node))
            each = inserted[place] = _facts(node, self.supply, before)
            keys.insert(place, _key(node))
            facts.insert(place, each)
            requirements.insert(place, each.requirements)
        return _AllNodes(
            supply=self.supply,
            nodes=nodes,
            keys=keys,
            facts=facts,
            requirements=requirements,
            table=self.table.with_rows(
                rows,
                requirements,
                {
                    place: (each.node.taints, each.rounded_free)
                    for place, each in inserted.items()
                },
            ),
            capacity=self._capacity_after(gone, new),
        )

    def _capacity_after(
        self, gone: Collection[StateNode], new: Collection[StateNode]
    ) -> Mapping[str, Amounts]:
        capacity = {pool: amounts.copy() for pool, amounts in self.capacity.items()}
        for node in gone:
            if node.pool:
                subtract_from(capacity[node.pool], node.capacity)
        for node in new:
            if node.pool:
                add_amounts(capacity.setdefault(node.pool, {}), node.capacity)
        return capacity


def _key(node: StateNode) -> tuple[bool, str]:
    # Pods join nodes that have started before they join those on their way, which may
    # never come (``calculateExistingNodeClaims``, scheduler.go).
    return not node.is_initialized, node.name


class NodesOfSolve:
    """The nodes that pods may go to: all but those that will be gone.

    Args:
        nodes: All nodes.
        excluded: Names of the others.

    Attributes:
        facts: What each node is like, with the others.
        left_out: The places of the others.
    """

    def __init__(self, nodes: _AllNodes, excluded: Collection[str]) -> None:
        self._nodes = nodes
        self.facts: Sequence[NodeFacts] = nodes.facts
        self.left_out = self.places_of(excluded)

    def included(self) -> Iterator[NodeFacts]:
        """Yield the nodes."""
        for place, each in enumerate(self.facts):
            if place not in self.left_out:
                yield each

    def table(self) -> NodeTable:
        """Return a table of all nodes that can be changed."""
        return self._nodes.table.copy()

    def mask(self) -> NDArray[np.bool_]:
        """Return which nodes of the table pods may go to."""
        mask = np.ones(len(self.facts), dtype=np.bool_)
        mask[[*self.left_out]] = False
        return mask

    def places_for(self, kind: PodKind) -> Sequence[int]:
        """Return the places of all nodes that pods of a kind may fit on.

        Nodes that will be gone are among them.
        """
        return self._nodes.places_for(kind)

    def places_of(self, names: Iterable[str]) -> Collection[int]:
        """Return the places of nodes."""
        places = map(self._nodes.place_of, names)
        return {place for place in places if place is not None}

    @property
    def started_count(self) -> int:
        """How many nodes have started; they come first."""
        return bisect_left(self._nodes.keys, (True, ""))

    def may_have_room(self, requests: Amounts) -> bool:
        """Return whether a node that has started may have room for requests."""
        mask, count = self._nodes.room(requests)
        if count > len(self.left_out):
            return True
        return count > sum(bool(mask[place]) for place in self.left_out)

    def started_with_room(
        self, requests: Sequence[Mapping[str, int]]
    ) -> Sequence[tuple[int, str]]:
        """Return how many nodes that have started may have room, and the first one.

        Nodes that will be gone are among them.

        Args:
            requests: What pods request, as `rounded_down`; there is an answer for
                each.
        """
        rooms = self._nodes.table.rooms(requests, self._nodes.started)
        return [
            (count, self.facts[place].node.name if count else "")
            for count, place in rooms
        ]

    def hosts(self) -> Collection[str]:
        """Return the names of the hosts."""
        left_out = (self.facts[place].node.host_name for place in self.left_out)
        return _without(self._nodes.hosts, Counter(left_out))

    def domains(self, key: str, node_filter: NodeFilter) -> Collection[str]:
        """Return the values of a label of the nodes that count."""
        if not node_filter.matches_all:
            return {
                each.node.labels[key]
                for each in self.included()
                if each.node_labels is not None
                and each.node.node is not None
                and key in each.node.labels
                and node_filter.matches(each.node.node.spec.taints, each.node_labels)
            }
        left_out = Counter(
            each.node.labels[key]
            for each in map(self.facts.__getitem__, self.left_out)
            if each.node_labels is not None and key in each.node.labels
        )
        return _without(self._nodes.domains(key), left_out)

    def capacity(self, pool: str) -> Amounts:
        """Return the capacity of the nodes of a pool."""
        total = self._nodes.capacity.get(pool, {})
        for place in self.left_out:
            node = self.facts[place].node
            if node.pool == pool:
                total = subtracted(total, node.capacity)
        return total


def _without(values: Counter[str], left_out: Counter[str]) -> Collection[str]:
    """Return the values that occur more often than they are left out."""
    gone = {value for value, count in left_out.items() if values[value] <= count}
    return values.keys() - gone if gone else values.keys()


def nodes_of_solve(
    state: ClusterState,
    options: KarpenterOptions,
    supply: Supply,
    excluded: Collection[str],
) -> NodesOfSolve:
    """Return the nodes that pods may go to; most of it is computed once for a state."""
    # A consolidation makes a solve for each candidate, on the same state, and few nodes
    # change between states. With 1,000 nodes this takes 1 ms for each solve, and took
    # 30 ms when every solve read all nodes.
    key = ("nodes", options)
    if key not in state.cache:
        nodes = _all_nodes(state, supply, state.latest.get(key))
        state.cache[key] = state.latest[key] = nodes
    nodes = state.cache[key]
    assert isinstance(nodes, _AllNodes)
    return NodesOfSolve(nodes, excluded)


def _all_nodes(state: ClusterState, supply: Supply, before: object) -> _AllNodes:
    """Return all nodes that stay, with facts from an earlier state."""
    # Identity: facts hold for the same pools, types and DaemonSets, and the same nodes.
    if not isinstance(before, _AllNodes) or before.supply is not supply:
        before = _AllNodes(
            supply=supply,
            nodes=ListedNodes(()),
            keys=(),
            facts=(),
            requirements=(),
            table=NodeTable(),
            capacity={},
        )
    # Identity: a state in which no machine has changed has the same list.
    return before if before.nodes is state.nodes else before.changed(state.nodes)


def _facts(node: StateNode, supply: Supply, before: NodeFacts | None) -> NodeFacts:
    """Return what a node is like; before, it was perhaps almost the same."""
    if before is not None and before.node.has_same_objects(node):
        return attrs.evolve(before, node=node)
    if before is None or not _has_same_labels(node, before.node):
        before = _first_facts(node, supply)
    expected = before.daemon_requests.copy()
    subtract_from(expected, node.daemon_requests)
    # DaemonSets that should not run there do not give room back.
    missing = {name: max(amount, 0) for name, amount in expected.items()}
    return attrs.evolve(
        before,
        node=node,
        free=subtracted(node.available, missing),
        has_volumes=any(map(has_claims, node.pods)),
    )


def _has_same_labels(node: StateNode, before: StateNode) -> bool:
    """Return whether a node differs from before at most in its pods and conditions."""
    return (
        node.labels == before.labels
        and node.taints == before.taints
        and node.pool == before.pool
        and node.is_managed == before.is_managed
        # Its own labels and those of its Node are the same then.
        and node.node is not None
        and before.node is not None
        and node.is_registered
        and before.is_registered
    )


def _first_facts(node: StateNode, supply: Supply) -> NodeFacts:
    """Return what a node without pods is like."""
    labels = Requirements.from_labels(node.labels)
    requirements = labels.copy()
    requirements.add([Requirement.of(HOSTNAME, "In", (node.host_name,))])
    own_type = node.labels.get(INSTANCE_TYPE)
    listed = supply.types.get(node.pool, ()) if node.is_managed else ()
    limits = next((each.volume_limits for each in listed if each.name == own_type), {})
    return NodeFacts(
        node=node,
        requirements=requirements,
        node_labels=_labels_of(node, labels),
        daemon_requests=requests_of(*supply.daemons.on_node(labels, node.taints)),
        free={},
        volume_limits=limits,
        has_volumes=False,
    )


def _labels_of(node: StateNode, labels: Requirements) -> Requirements | None:
    if node.node is None:
        return None
    if node.is_registered:
        return labels
    return Requirements.from_labels(node.node.labels)
