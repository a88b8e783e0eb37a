"""The machines of a cluster, kept up to date object by object.

Mirrors ``pkg/controllers/state/cluster.go`` (sigs.k8s.io/karpenter v1.15).
"""

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._studies.autoscaling.karpenter.bound_pods import BoundPods
from quaymaster._studies.autoscaling.karpenter.labels import (
    INITIALIZED,
    INSTANCE_TYPE,
    NODE_POOL,
)
from quaymaster._studies.autoscaling.karpenter.listed_nodes import ListedNodes, NodeLog
from quaymaster._studies.autoscaling.karpenter.objects import NodeClaim
from quaymaster._studies.autoscaling.karpenter.state_node import StateNode

__all__ = ["MachineStates"]

_CLAIMS: Final = 2**40
"""The place of the first claim, behind all nodes."""


@attrs.define(eq=False)
class _Machine:
    """The nodes and claims with one ID of the cloud: mostly one of each."""

    nodes: dict[str, Node] = attrs.field(factory=dict)
    claims: dict[str, NodeClaim] = attrs.field(factory=dict)


class MachineStates:
    """The machines of a cluster, each of which is the same object until it changes.

    Args:
        pods: The pods of each node.
        previous: Machines of an earlier state, by name. Those that are the same are
            used again, with what they have computed.
    """

    def __init__(
        self, pods: BoundPods, previous: Mapping[str, StateNode] | None = None
    ) -> None:
        self._pods = pods
        self._previous = {} if previous is None else previous
        self._machines: dict[str, _Machine] = {}
        # The machine of each node and of each claim without a node, in the order of the
        # API server; None for nodes that Karpenter does not look at.
        self._of_nodes: dict[str, StateNode | None] = {}
        self._of_claims: dict[str, StateNode | None] = {}
        self._node_places: dict[str, int] = {}
        self._claim_places: dict[str, int] = {}
        self._put = 0
        self._claim_ids: dict[str, str] = {}
        self._node_ids: dict[str, str] = {}
        self._changed: set[str] = set()
        self._marked: frozenset[str] = frozenset()
        self._nominated: Mapping[str, float] = {}
        self._log = NodeLog()
        self._listed = ListedNodes((), self._log)

    def put_node(self, node: Node) -> None:
        """Add a node, or replace an earlier version of it."""
        self._put += 1
        self._node_places.setdefault(node.name, self._put)
        provider_id = node.spec.provider_id or node.name
        if self._node_ids.get(node.name, provider_id) != provider_id:
            self._take_node(node.name)
        self._node_ids[node.name] = provider_id
        self._of_nodes.setdefault(node.name, None)
        self._machine(provider_id).nodes[node.name] = node

    def drop_node(self, name: str) -> None:
        """Remove a node."""
        self._node_places.pop(name, None)
        self._drop(self._of_nodes, name)
        self._take_node(name)

    def put_claim(self, claim: NodeClaim) -> None:
        """Add a claim, or replace an earlier version of it."""
        self._put += 1
        self._claim_places.setdefault(claim.name, _CLAIMS + self._put)
        self._of_claims.setdefault(claim.name, None)
        provider_id = claim.status.provider_id
        if self._claim_ids.get(claim.name, provider_id) != provider_id:
            self._take_claim(claim.name)
        if provider_id:
            self._claim_ids[claim.name] = provider_id
            self._machine(provider_id).claims[claim.name] = claim

    def drop_claim(self, name: str) -> None:
        """Remove a claim."""
        self._claim_places.pop(name, None)
        self._drop(self._of_claims, name)
        self._take_claim(name)

    def _take_node(self, name: str) -> None:
        provider_id = self._node_ids.pop(name, None)
        if provider_id is not None:
            self._machine(provider_id).nodes.pop(name, None)

    def _take_claim(self, name: str) -> None:
        provider_id = self._claim_ids.pop(name, None)
        if provider_id is not None:
            self._machine(provider_id).claims.pop(name, None)
            if name in self._of_claims:
                self._set(self._of_claims, name, None)

    def _set(
        self,
        machines: dict[str, StateNode | None],
        name: str,
        machine: StateNode | None,
    ) -> None:
        """Set the machine of a node or of a claim."""
        before = machines.get(name)
        # Identity: a machine that has changed is another object.
        if before is not machine:
            self._log.add(before, machine)
        machines[name] = machine

    def _drop(self, machines: dict[str, StateNode | None], name: str) -> None:
        """Remove a node or a claim."""
        before = machines.pop(name, None)
        if before is not None:
            self._log.add(before, None)

    def _machine(self, provider_id: str) -> _Machine:
        """Return a machine that is about to change."""
        self._changed.add(provider_id)
        machine = self._machines.get(provider_id)
        if machine is None:
            machine = self._machines[provider_id] = _Machine()
        return machine

    def read(
        self, marked: frozenset[str], nominated: Mapping[str, float]
    ) -> ListedNodes:
        """Return the machines; the same list if none has changed.

        Args:
            marked: Names of nodes that a disruption is about to delete.
            nominated: Until when pods are expected on nodes, by name.
        """
        # With 1,800 nodes, going through all machines took 4 ms for each of the some
        # 30,000 states of a day, in which few of them have changed.
        self._note(self._pods.take_changes())
        self._note(marked ^ self._marked)
        self._note({name for name, _ in nominated.items() ^ self._nominated.items()})
        self._marked, self._nominated = marked, dict(nominated)
        if self._changed:
            for provider_id in self._changed:
                self._make(provider_id)
            self._changed.clear()
            of_nodes, of_claims = self._of_nodes.values(), self._of_claims.values()
            listed = [*filter(None, of_nodes), *filter(None, of_claims)]
            self._log.tidy(len(listed))
            self._listed = ListedNodes(listed, self._log)
        return self._listed

    def _note(self, names: Collection[str]) -> None:
        """Note that machines have changed, by the names of their nodes or claims."""
        for name in names:
            for ids in (self._node_ids, self._claim_ids):
                if name in ids:
                    self._changed.add(ids[name])

    def _make(self, provider_id: str) -> None:
        machine = self._machines.get(provider_id)
        if machine is None:
            return
        # The last claim counts if several have the same ID, and the first node.
        claim = self._last_of(machine.claims)
        nodes = self._in_order(machine.nodes)
        for node in nodes:
            is_tracked = _is_tracked(node)
            made = self._made(node, claim) if is_tracked else None
            self._set(self._of_nodes, node.name, made)
            if is_tracked:
                claim = None
        for name in machine.claims:
            alone = claim is not None and name == claim.name
            made = self._made(None, claim) if alone else None
            self._set(self._of_claims, name, made)
        if not machine.nodes and not machine.claims:
            del self._machines[provider_id]

    def _last_of(self, claims: Mapping[str, NodeClaim]) -> NodeClaim | None:
        if len(claims) <= 1:
            return next(iter(claims.values()), None)
        return [claims[name] for name in self._of_claims if name in claims][-1]

    def _in_order(self, nodes: Mapping[str, Node]) -> Sequence[Node]:
        if len(nodes) <= 1:
            return [*nodes.values()]
        return [nodes[name] for name in self._of_nodes if name in nodes]

    def _made(self, node: Node | None, claim: NodeClaim | None) -> StateNode:
        pods = () if node is None else self._pods.on(node.name)
        finished = () if node is None else self._pods.finished_on(node.name)
        made = self._before(node, claim)
        if made is None or not _is_same(made, node, claim, pods, finished):
            made = StateNode(node=node, claim=claim, pods=pods, finished_pods=finished)
        name = made.name
        place = self._place_of(node, claim)
        is_marked, until = name in self._marked, self._nominated.get(name, 0.0)
        if (made.marked, made.nominated_until, made.place) == (is_marked, until, place):
            return made
        return attrs.evolve(made, marked=is_marked, nominated_until=until, place=place)

    def _place_of(self, node: Node | None, claim: NodeClaim | None) -> int:
        if node is not None:
            return self._node_places[node.name]
        return self._claim_places[claim.name] if claim is not None else 0

    def _before(self, node: Node | None, claim: NodeClaim | None) -> StateNode | None:
        """Return the same machine as it was before, or None."""
        made = None if node is None else self._of_nodes.get(node.name)
        if made is None and claim is not None:
            made = self._of_claims.get(claim.name)
        if made is None and node is not None:
            made = self._previous.get(node.name)
        if made is None and claim is not None:
            made = self._previous.get(claim.name)
        return made


def _is_same(
    before: StateNode,
    node: Node | None,
    claim: NodeClaim | None,
    pods: Sequence[Pod],
    finished: Sequence[Pod],
) -> bool:
    """Return whether a machine has the same objects as before."""
    # Identity: an object of the cluster that has changed is another object. Claims of
    # the input get new copies with the times of the simulation.
    return (
        before.node is node
        and (before.claim is claim or before.claim == claim)
        and _are_identical(before.pods, pods)
        and _are_identical(before.finished_pods, finished)
    )


def _are_identical(left: Sequence[Pod], right: Sequence[Pod]) -> bool:
    # Identity: a list that has not changed is the same object.
    return left is right or (
        len(left) == len(right) and all(map(operator.is_, left, right))
    )


def _is_tracked(node: Node) -> bool:
    """Return whether Karpenter looks at a node; not until it knows its machine."""
    if not node.labels.get(NODE_POOL):
        return True
    if not node.spec.provider_id:
        return False
    return bool(node.labels.get(INSTANCE_TYPE) or node.labels.get(INITIALIZED))
