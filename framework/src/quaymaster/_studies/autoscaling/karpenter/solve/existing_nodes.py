"""Nodes that are there or on their way, and the pods that they get.

Mirrors ``existingnode.go`` and ``addToExistingNode`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Collection, Mapping, Sequence

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import fits, subtract_from
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.pods import is_pending
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.solve.first_fit import FirstFit
from quaymaster._studies.autoscaling.karpenter.solve.host_ports import HostPortUsage
from quaymaster._studies.autoscaling.karpenter.solve.node_facts import (
    NodeFacts,
    NodesOfSolve,
)
from quaymaster._studies.autoscaling.karpenter.solve.plain_pods import PodKind
from quaymaster._studies.autoscaling.karpenter.solve.pod_data import PodData
from quaymaster._studies.autoscaling.karpenter.solve.refusals import Refusal
from quaymaster._studies.autoscaling.karpenter.solve.topology import Topology
from quaymaster._studies.autoscaling.karpenter.solve.volumes import VolumeUsage

__all__ = ["ExistingNodes"]


class _ExistingNode:
    """A node with the pods that it gets in this solve."""

    __slots__ = ("facts", "free", "ports", "requirements", "volumes")

    def __init__(self, facts: NodeFacts) -> None:
        self.facts = facts
        self.requirements = facts.requirements
        self.free = facts.free
        self.ports: HostPortUsage | None = None
        self.volumes: VolumeUsage | None = None


class ExistingNodes:
    """The nodes of a solve, those that have started first, then by name.

    Args:
        state: The cluster.
        nodes: The nodes in that order.
        topology: The constraints of pods.
        consolidates: Whether nodes whose pods have changed lately get no pods of
            candidates.
        needing_started: Keys of pods that need nodes that have started.
        kinds: The kinds of the pods by uid, if all of them are plain; otherwise None.

    Attributes:
        is_given_up: Whether one of these pods has got another node.
    """

    def __init__(
        self,
        state: ClusterState,
        nodes: NodesOfSolve,
        topology: Topology,
        *,
        consolidates: bool,
        needing_started: Collection[str] = (),
        kinds: Mapping[str, PodKind] | None = None,
    ) -> None:
        self._state = state
        self._topology = topology
        self._consolidates = consolidates
        self._needing_started = needing_started
        self.is_given_up = False
        self._facts = nodes.facts
        self._nodes: dict[int, _ExistingNode] = {}
        self._placed: dict[int, list[Pod]] = {}
        self._kinds = kinds
        if kinds is None:
            self._table = nodes.table()
            self._mask = nodes.mask()
            topology.register_hosts()
        else:
            self._first_fit = FirstFit(state, nodes, nodes.left_out)

    @property
    def placed(self) -> dict[str, Sequence[Pod]]:
        """The pods that each node gets, by its name."""
        return {
            self._facts[place].node.name: pods
            for place, pods in sorted(self._placed.items())
        }

    def place(self, data: PodData) -> bool:
        """Place a pod on the first node that it fits on, if any; return whether so."""
        pod = data.pod
        if self._kinds is not None:
            found = self._first_fit.place(
                self._kinds[pod.uid], avoids_changed=self._avoids_changed(pod)
            )
            if found is not None:
                self._note(found, pod)
            return found is not None
        avoids_changed = self._avoids_changed(pod)
        # The first that fits, without a score, as in ``addToExistingNode``
        # (scheduler.go). kube-scheduler will choose by its own scores, so the pod may
        # end on another node.
        for place in self._table.candidates(
            data.requirements, data.requests, pod.spec.tolerations, self._mask
        ):
            if avoids_changed and self._has_changed(self._facts[place].node):
                continue
            node = self._nodes.get(place)
            if node is None:
                node = self._nodes[place] = _ExistingNode(self._facts[place])
            requirements = self._requirements_with(node, data)
            if requirements is not None:
                self._add(place, data, requirements)
                return True
        return False

    def _avoids_changed(self, pod: Pod) -> bool:
        """Return whether a pod may not go to nodes whose pods have changed lately.

        So it is with the pods of candidates of a consolidation.
        """
        if not self._consolidates or is_pending(pod):
            return False
        own = self._state.node_by_name.get(pod.node_name)
        return own is None or not own.marked_for_deletion

    def _has_changed(self, node: StateNode) -> bool:
        """Return whether the pods of a node have changed lately."""
        pool = self._state.pools.get(node.pool)
        return node.is_under_consolidate_after(pool, self._state.now)

    def _note(self, place: int, pod: Pod) -> None:
        """Note that a node gets a pod."""
        if not self._facts[place].node.is_initialized:
            self.is_given_up |= pod.key in self._needing_started
        self._placed.setdefault(place, []).append(pod)

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
        self._note(place, data.pod)
        # The facts are shared by all solves of a state.
        node.free = node.free.copy()
        subtract_from(node.free, data.requests)
        node.requirements = requirements
        self._topology.record(data.pod, node.facts.node.taints, requirements)
        self._ports(node).add(data.pod)
        if node.volumes is not None:
            node.volumes.add(data.volumes)
        self._table.update(place, requirements, node.free)
