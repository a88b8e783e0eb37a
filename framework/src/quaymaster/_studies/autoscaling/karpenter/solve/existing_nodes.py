"""Nodes that are there or on their way, and the pods that they get.

Mirrors ``existingnode.go`` and ``addToExistingNode`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Mapping, Sequence

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    fits,
    requests_of,
    subtract_from,
    subtracted,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.labels import HOSTNAME, INSTANCE_TYPE
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import is_pending
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.daemon_groups import DaemonPods
from quaymaster._studies.autoscaling.karpenter.solve.host_ports import HostPortUsage
from quaymaster._studies.autoscaling.karpenter.solve.node_table import NodeTable
from quaymaster._studies.autoscaling.karpenter.solve.pod_data import PodData
from quaymaster._studies.autoscaling.karpenter.solve.refusals import Refusal
from quaymaster._studies.autoscaling.karpenter.solve.templates import Supply
from quaymaster._studies.autoscaling.karpenter.solve.topology import Topology
from quaymaster._studies.autoscaling.karpenter.solve.volumes import (
    VolumeUsage,
    has_claims,
)

__all__ = ["ExistingNodes", "NodeFacts", "facts_of_nodes"]


@attrs.frozen(kw_only=True, eq=False)
class NodeFacts:
    """What a node is like before a solve.

    Attributes:
        node: The node.
        requirements: Its labels.
        free: What its pods and its DaemonSets leave.
        volume_limits: How many volumes a node of its type can attach.
        has_volumes: Whether its pods have volumes behind claims.
    """

    node: StateNode
    requirements: Requirements
    free: Amounts
    volume_limits: Mapping[str, int]
    has_volumes: bool


def facts_of_nodes(
    state: ClusterState, options: KarpenterOptions, supply: Supply
) -> Mapping[str, NodeFacts]:
    """Return what the nodes of a cluster are like, by name; computed once."""
    key = ("node facts", options)
    if key not in state.cache:
        state.cache[key] = {
            node.name: _facts(node, supply.daemons, supply.types)
            for node in sorted(
                state.nodes, key=lambda node: (not node.is_initialized, node.name)
            )
        }
    facts: Mapping[str, NodeFacts] = state.cache[key]
    return facts


def _facts(
    node: StateNode,
    daemons: DaemonPods,
    types: Mapping[str, Sequence[InstanceType]],
) -> NodeFacts:
    labels = Requirements.from_labels(node.labels)
    expected = requests_of(*daemons.on_node(labels, node.taints))
    subtract_from(expected, node.daemon_requests)
    # DaemonSets that should not run there do not give room back.
    missing = {name: max(amount, 0) for name, amount in expected.items()}
    requirements = labels.copy()
    requirements.add([Requirement.of(HOSTNAME, "In", (node.host_name,))])
    own_type = node.labels.get(INSTANCE_TYPE)
    listed = types.get(node.pool, ()) if node.is_managed else ()
    limits = next((each.volume_limits for each in listed if each.name == own_type), {})
    return NodeFacts(
        node=node,
        requirements=requirements,
        free=subtracted(node.available, missing),
        volume_limits=limits,
        has_volumes=any(map(has_claims, node.pods)),
    )


class _ExistingNode:
    """A node with the pods that it gets in this solve."""

    __slots__ = (
        "facts",
        "free",
        "is_closed",
        "pods",
        "ports",
        "requirements",
        "volumes",
    )

    def __init__(self, facts: NodeFacts, *, is_closed: bool) -> None:
        self.facts = facts
        self.requirements = facts.requirements
        self.free = facts.free
        self.is_closed = is_closed
        self.pods: list[Pod] = []
        self.ports: HostPortUsage | None = None
        self.volumes: VolumeUsage | None = None


class ExistingNodes:
    """The nodes of a solve, those that have started first, then by name.

    Args:
        state: The cluster.
        facts: The nodes in that order.
        topology: The constraints of pods.
        closed: Names of nodes that get no pods of candidates of a consolidation.
    """

    def __init__(
        self,
        state: ClusterState,
        facts: Sequence[NodeFacts],
        topology: Topology,
        closed: frozenset[str],
    ) -> None:
        self._state = state
        self._topology = topology
        self._nodes = [
            _ExistingNode(each, is_closed=each.node.name in closed) for each in facts
        ]
        self._deleting = {node.name for node in state.nodes if node.marked_for_deletion}
        self._table = NodeTable(
            [each.requirements for each in facts],
            [each.node.taints for each in facts],
            [each.free for each in facts],
        )
        for each in facts:
            topology.register_host(each.node.host_name)

    @property
    def placed(self) -> dict[str, Sequence[Pod]]:
        """The pods that each node gets, by its name."""
        return {each.facts.node.name: each.pods for each in self._nodes if each.pods}

    def place(self, data: PodData) -> bool:
        """Place a pod on the first node that it fits on, if any; return whether so."""
        pod = data.pod
        may_go_to_closed = is_pending(pod) or pod.node_name in self._deleting
        for place in self._table.candidates(
            data.requirements, data.requests, pod.spec.tolerations
        ):
            node = self._nodes[place]
            if node.is_closed and not may_go_to_closed:
                continue
            requirements = self._requirements_with(node, data)
            if requirements is not None:
                self._add(place, data, requirements)
                return True
        return False

    def _requirements_with(
        self, node: _ExistingNode, data: PodData
    ) -> Requirements | None:
        """Return the labels of a node with a pod, or None if the pod does not fit."""
        if not fits(data.requests, node.free):
            return None
        if self._lacks_volumes(node, data) or self._ports(node).conflicts(data.pod):
            return None
        base = node.requirements.copy()
        base.add(data.requirements)
        for places in data.volume_alternatives or (None,):
            requirements = self._at(data, base, places)
            if requirements is not None:
                return requirements
        return None

    def _at(
        self, data: PodData, base: Requirements, places: Requirements | None
    ) -> Requirements | None:
        requirements = base
        if places is not None:
            if not base.compatible(places):
                return None
            requirements = base.copy()
            requirements.add(places)
        if not self._topology.concerns(data.pod):
            return requirements
        narrowed = self._topology.narrowed(data.pod, data.strict, requirements)
        if isinstance(narrowed, Refusal) or not requirements.compatible(narrowed):
            return None
        return narrowed

    def _lacks_volumes(self, node: _ExistingNode, data: PodData) -> bool:
        """Return whether a node cannot attach the volumes of a pod.

        As upstream: a node with too many volumes gets no pod at all.
        """
        if node.volumes is None and (data.volumes or node.facts.has_volumes):
            state_node = node.facts.node
            name = state_node.node.name if state_node.node is not None else ""
            node.volumes = VolumeUsage.of_node(
                self._state, name, state_node.pods, node.facts.volume_limits
            )
        return node.volumes is not None and bool(
            node.volumes.problem_with(data.volumes)
        )

    def _ports(self, node: _ExistingNode) -> HostPortUsage:
        if node.ports is None:
            node.ports = HostPortUsage.of(node.facts.node.pods)
        return node.ports

    def _add(self, place: int, data: PodData, requirements: Requirements) -> None:
        node = self._nodes[place]
        node.pods.append(data.pod)
        node.free = node.free.copy()
        subtract_from(node.free, data.requests)
        node.requirements = requirements
        self._topology.record(data.pod, node.facts.node.taints, requirements)
        self._ports(node).add(data.pod)
        if node.volumes is not None:
            node.volumes.add(data.volumes)
        self._table.update(place, requirements, node.free)
