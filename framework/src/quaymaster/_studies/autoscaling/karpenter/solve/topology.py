"""Spread constraints, affinities and anti-affinities of pods.

Mirrors ``topology.go`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Iterator, Sequence

from quaymaster._api.objects import Pod, Taint
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.labels import HOSTNAME
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.anti_affinities import (
    required_terms,
    running_anti_affinities,
)
from quaymaster._studies.autoscaling.karpenter.solve.node_facts import NodesOfSolve
from quaymaster._studies.autoscaling.karpenter.solve.pod_counts import running_pods
from quaymaster._studies.autoscaling.karpenter.solve.refusals import Refusal
from quaymaster._studies.autoscaling.karpenter.solve.topology_constraints import (
    Constraint,
    Constraints,
)
from quaymaster._studies.autoscaling.karpenter.solve.topology_group import (
    TopologyGroup,
    TopologyKind,
)

__all__ = ["Topology"]


class Topology:
    """Counts pods by domain while they are placed.

    Args:
        state: The cluster.
        nodes: The nodes that pods may go to.
        constraints: Reads the constraints of pods.
        pods: The pods to place; where they are now does not count.
        uncounted: Pods to place whose own constraints do not count, as their volumes do
            not exist. They count where they are now, and others keep them away.
    """

    def __init__(
        self,
        state: ClusterState,
        nodes: NodesOfSolve,
        constraints: Constraints,
        pods: Sequence[Pod],
        uncounted: Sequence[Pod] = (),
    ) -> None:
        self._state = state
        self._nodes = nodes
        self._constraints = constraints
        # Pods of this solve are counted where they are placed, not where they run now.
        self._excluded = {pod.uid: pod for pod in pods}
        self._groups: dict[object, TopologyGroup] = {}
        self._inverse: dict[object, TopologyGroup] = {}
        self._owned: dict[str, list[TopologyGroup]] = {}
        self._inverse_owned: dict[str, list[TopologyGroup]] = {}
        self._selecting: dict[str, tuple[int, list[TopologyGroup]]] = {}
        self._read_running([*pods, *uncounted])
        for pod in pods:
            self.update(pod)

    def _read_running(self, pods: Sequence[Pod]) -> None:
        """Read the anti-affinities of pods that run, if they concern some of these."""
        running = running_anti_affinities(self._state, self._constraints.anti_affinity)
        for identity, each in running.items():
            if any(map(each.example.selects, pods)):
                counts = each.counts(self._excluded)
                if counts is not None:
                    group = self._inverse[identity] = each.constraint.make()
                    group.record_all(counts)

    def update(self, pod: Pod) -> None:
        """Read the constraints of a pod, again after it has lost a preference."""
        self._owned.pop(pod.uid, None)
        spec = pod.spec
        if spec.affinity is None and not spec.topology_spread_constraints:
            return
        self._add_inverse(pod)
        owned: dict[TopologyGroup, None] = {}
        for constraint in self._constraints.of_pod(pod):
            group = self._groups.get(constraint.identity)
            if group is None:
                group = self._groups[constraint.identity] = constraint.make()
                self._count(group, constraint)
            owned[group] = None
        if owned:
            self._owned[pod.uid] = [*owned]

    def _add_inverse(self, pod: Pod) -> None:
        """Read the anti-affinity of a pod, which keeps others away from it."""
        if pod.uid in self._inverse_owned:
            return
        owned: dict[TopologyGroup, None] = {}
        for term in required_terms(pod):
            constraint = self._constraints.anti_affinity(pod, term)
            group = self._inverse.get(constraint.identity)
            if group is None:
                group = self._inverse[constraint.identity] = constraint.make()
            owned[group] = None
        self._inverse_owned[pod.uid] = [*owned]

    def _count(self, group: TopologyGroup, constraint: Constraint) -> None:
        """Count the pods that run, and add the domains of nodes."""
        group.register(self._nodes.domains(group.key, group.node_filter))
        group.record_all(
            running_pods(self._state, group, constraint.pods, self._excluded)
        )

    def concerns(self, pod: Pod) -> bool:
        """Return whether constraints limit where a pod may go."""
        return bool(self._owned.get(pod.uid) or self._selecting_inverse(pod))

    def narrowed(
        self,
        pod: Pod,
        strict: Requirements,
        requirements: Requirements,
    ) -> Requirements | Refusal:
        """Return the requirements of a node, narrowed to domains where a pod may go.

        Args:
            pod: The pod.
            strict: What it requires.
            requirements: Those of the node with the pod.
        """
        narrowed = requirements.copy()
        groups = (*self._owned.get(pod.uid, ()), *self._selecting_inverse(pod))
        for group in groups:
            pod_domains = strict.get(group.key)
            node_domains = requirements.get(group.key)
            allowed = group.allowed(pod, pod_domains, node_domains)
            if not allowed.values:
                return _refusal(group, pod_domains, node_domains)
            narrowed.add([allowed])
        return narrowed

    def _selecting_inverse(self, pod: Pod) -> list[TopologyGroup]:
        """Return the anti-affinities of other pods that keep a pod away."""
        count, selecting = self._selecting.get(pod.uid, (-1, []))
        # Groups are only ever added, so their number says whether a list is still
        # right.
        if count != len(self._inverse):
            selecting = [g for g in self._inverse.values() if g.selects(pod)]
            self._selecting[pod.uid] = len(self._inverse), selecting
        return selecting

    def record(
        self, pod: Pod, taints: Sequence[Taint], requirements: Requirements
    ) -> None:
        """Count a pod that is placed on a node."""
        for group in self._groups.values():
            if not group.counts_pod(pod, taints, requirements):
                continue
            domains = requirements.get(group.key)
            if group.kind == TopologyKind.ANTI_AFFINITY:
                # All domains where the pod may end are closed.
                group.record(domains.values)
            elif domains.single_value is not None:
                group.record([domains.single_value])
        for group in self._inverse_owned.get(pod.uid, ()):
            group.record(requirements.get(group.key).values)

    def register_hosts(self) -> None:
        """Add the hosts of all nodes, without pods."""
        for group in self._groups_of_hosts():
            group.register(self._nodes.hosts())

    def register_host(self, name: str) -> None:
        """Add a host without pods."""
        for group in self._groups_of_hosts():
            group.register([name])

    def _groups_of_hosts(self) -> Iterator[TopologyGroup]:
        for groups in (self._groups, self._inverse):
            for group in groups.values():
                if group.key == HOSTNAME:
                    yield group


def _refusal(
    group: TopologyGroup, pod_domains: Requirement, node_domains: Requirement
) -> Refusal:
    return Refusal(lambda: group.text(pod_domains, node_domains))
