"""Spread constraints, affinities and anti-affinities of pods.

Mirrors ``topology.go`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    Namespace,
    Node,
    Pod,
    PodAffinityTerm,
    Taint,
    TopologySpreadConstraint,
)
from quaymaster._api.objects.selectors import (
    NOTHING,
    Selector,
    SelectorError,
    compile_label_selector,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.labels import HOSTNAME
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.chance import Chance
from quaymaster._studies.autoscaling.karpenter.solve.refusals import Refusal
from quaymaster._studies.autoscaling.karpenter.solve.topology_domains import DomainGroup
from quaymaster._studies.autoscaling.karpenter.solve.topology_filter import (
    ALL_NODES,
    node_filter,
)
from quaymaster._studies.autoscaling.karpenter.solve.topology_group import (
    TopologyGroup,
    TopologyKind,
)

__all__ = ["Topology"]

_DO_NOT_SCHEDULE: Final = "DoNotSchedule"
_NO_DOMAINS: Final = DomainGroup()


class Topology:
    """Counts pods by domain while they are placed.

    Args:
        state: The cluster.
        nodes: The nodes that pods may go to.
        domains: The values that new nodes can have, by label.
        pods: The pods to place; where they are now does not count.
        chance: Draws among equal domains.
        ignores_preferences: Whether preferences do not count.
    """

    def __init__(
        self,
        state: ClusterState,
        nodes: Sequence[StateNode],
        domains: Mapping[str, DomainGroup],
        pods: Sequence[Pod],
        chance: Chance,
        *,
        ignores_preferences: bool,
    ) -> None:
        self._state = state
        self._nodes = nodes
        self._domains = domains
        self._chance = chance
        self._ignores_preferences = ignores_preferences
        self._excluded = {pod.uid for pod in pods}
        self._groups: dict[object, TopologyGroup] = {}
        self._inverse: dict[object, TopologyGroup] = {}
        self._owned: dict[str, list[TopologyGroup]] = {}
        self._inverse_owned: dict[str, list[TopologyGroup]] = {}
        self._selecting: dict[str, tuple[int, list[TopologyGroup]]] = {}
        for pod, node in state.anti_affinity_pods:
            if pod.uid not in self._excluded:
                self._add_inverse(pod, node.labels)
        for pod in pods:
            self.update(pod)

    def update(self, pod: Pod) -> None:
        """Read the constraints of a pod, again after it has lost a preference."""
        for group in self._owned.pop(pod.uid, ()):
            group.owners.discard(pod.uid)
        spec = pod.spec
        if spec.affinity is None and not spec.topology_spread_constraints:
            return
        self._add_inverse(pod, {})
        owned = []
        for key, group in self._constraints(pod):
            present = self._groups.get(key)
            if present is None:
                self._count(group)
                present = self._groups[key] = group
            present.owners.add(pod.uid)
            owned.append(present)
        if owned:
            self._owned[pod.uid] = owned

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
        owned = self._owned.get(pod.uid, [])
        groups = dict.fromkeys([*owned, *self._selecting_inverse(pod)])
        narrowed = requirements.copy()
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
        if count != len(self._inverse):
            selecting = [g for g in self._inverse.values() if g.selects(pod)]
            self._selecting[pod.uid] = len(self._inverse), selecting
        return selecting

    def record(
        self, pod: Pod, taints: Sequence[Taint], requirements: Requirements
    ) -> None:
        """Count a pod that is placed on a node."""
        node_taints = tuple(taints)
        for group in self._groups.values():
            if not group.counts_pod(pod, node_taints, requirements):
                continue
            domains = requirements.get(group.key)
            if group.kind == TopologyKind.ANTI_AFFINITY:
                # All domains where the pod may end are closed.
                group.record(domains.values)
            elif domains.single_value is not None:
                group.record([domains.single_value])
        for group in self._inverse_owned.get(pod.uid, ()):
            group.record(requirements.get(group.key).values)

    def register_host(self, name: str) -> None:
        """Add a host without pods."""
        for groups in (self._groups, self._inverse):
            for group in groups.values():
                if group.key == HOSTNAME:
                    group.register(name)

    def _add_inverse(self, pod: Pod, labels: Mapping[str, str]) -> None:
        """Read the anti-affinity of a pod, which keeps others away from it."""
        affinity = pod.spec.affinity and pod.spec.affinity.pod_anti_affinity
        if not affinity:
            return
        owned = self._inverse_owned.setdefault(pod.uid, [])
        for term in affinity.required_during_scheduling_ignored_during_execution:
            key, group = self._of_term(pod, term, TopologyKind.ANTI_AFFINITY)
            group = self._inverse.setdefault(key, group)
            if group.key in labels:
                group.record([labels[group.key]])
            if pod.uid not in group.owners:
                group.owners.add(pod.uid)
                owned.append(group)

    def _constraints(self, pod: Pod) -> Iterable[tuple[object, TopologyGroup]]:
        for constraint in pod.spec.topology_spread_constraints:
            hard = constraint.when_unsatisfiable == _DO_NOT_SCHEDULE
            if hard or not self._ignores_preferences:
                yield self._of_constraint(pod, constraint)
        affinity = pod.spec.affinity
        if affinity is None:
            return
        for kind, terms in (
            (TopologyKind.AFFINITY, affinity.pod_affinity),
            (TopologyKind.ANTI_AFFINITY, affinity.pod_anti_affinity),
        ):
            if terms is None:
                continue
            for term in terms.required_during_scheduling_ignored_during_execution:
                yield self._of_term(pod, term, kind)
            if not self._ignores_preferences:
                soft = terms.preferred_during_scheduling_ignored_during_execution
                for weighted in soft:
                    yield self._of_term(pod, weighted.pod_affinity_term, kind)

    def _of_constraint(
        self, pod: Pod, constraint: TopologySpreadConstraint
    ) -> tuple[object, TopologyGroup]:
        selector = _with_label_keys(pod, constraint)
        nodes = node_filter(
            pod, constraint.node_affinity_policy, constraint.node_taints_policy
        )
        namespaces = frozenset({pod.namespace})
        group_domains = self._domains.get(constraint.topology_key, _NO_DOMAINS)
        domains = (
            group_domains.tolerated_domains(pod.spec.tolerations)
            if nodes.honors_taints
            else group_domains.all_domains()
        )
        group = TopologyGroup(
            kind=TopologyKind.SPREAD,
            key=constraint.topology_key,
            namespaces=namespaces,
            selector=_compiled(selector),
            node_filter=nodes,
            domains=domains,
            chance=self._chance,
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains,
            counts_all=selector is None,
        )
        # The least number of domains is not a part of upstream's hash.
        shape = nodes.shape, constraint.max_skew
        return (*_identity(group, selector), shape), group

    def _of_term(
        self, pod: Pod, term: PodAffinityTerm, kind: TopologyKind
    ) -> tuple[object, TopologyGroup]:
        group_domains = self._domains.get(term.topology_key, _NO_DOMAINS)
        group = TopologyGroup(
            kind=kind,
            key=term.topology_key,
            namespaces=self._namespaces(pod, term),
            selector=_compiled(term.label_selector),
            node_filter=ALL_NODES,
            domains=group_domains.tolerated_domains(pod.spec.tolerations),
            chance=self._chance,
            counts_all=term.label_selector is None,
        )
        return _identity(group, term.label_selector), group

    def _namespaces(self, pod: Pod, term: PodAffinityTerm) -> frozenset[str]:
        if term.namespace_selector is None:
            return frozenset(term.namespaces or (pod.namespace,))
        selector = _compiled(term.namespace_selector)
        selected = (
            namespace.name
            for namespace in self._state.all_of(Namespace)
            if selector.matches(namespace.labels)
        )
        return frozenset({*selected, *term.namespaces})

    def _count(self, group: TopologyGroup) -> None:
        """Count the pods of the cluster, and add the domains of its nodes."""
        for node in self._nodes:
            if node.node is None or group.key not in node.labels:
                continue
            labels = Requirements.from_labels(node.node.labels)
            if group.node_filter.matches(node.node.spec.taints, labels):
                group.register(node.labels[group.key])
        for namespace in sorted(group.namespaces):
            for pod in self._state.pods_by_namespace.get(namespace, ()):
                if pod.uid not in self._excluded and group.counts_labels(pod.labels):
                    self._count_pod(group, pod)

    def _count_pod(self, group: TopologyGroup, pod: Pod) -> None:
        node = self._state.get(Node, pod.node_name)
        if node is None:
            return
        domain = node.labels.get(group.key)
        if domain is None:
            if group.key != HOSTNAME:
                return
            domain = node.name
        labels = Requirements.from_labels(node.labels)
        if group.node_filter.matches(node.spec.taints, labels):
            group.record([domain])


def _refusal(
    group: TopologyGroup, pod_domains: Requirement, node_domains: Requirement
) -> Refusal:
    return Refusal(lambda: group.text(pod_domains, node_domains))


def _compiled(selector: LabelSelector | None) -> Selector:
    try:
        return compile_label_selector(selector)
    except SelectorError:
        return NOTHING


def _with_label_keys(
    pod: Pod, constraint: TopologySpreadConstraint
) -> LabelSelector | None:
    """Return the selector of a constraint, for pods with the same labels only."""
    selector = constraint.label_selector
    more = tuple(
        LabelSelectorRequirement(key=key, operator="In", values=(pod.labels[key],))
        for key in constraint.match_label_keys
        if key in pod.labels
    )
    if not more or selector is None:
        return selector
    return replace(selector, match_expressions=(*selector.match_expressions, *more))


def _identity(
    group: TopologyGroup, selector: LabelSelector | None
) -> tuple[object, ...]:
    """Return what makes constraints one group, as upstream's hash does."""
    texts: object = None
    if selector is not None:
        expressions = frozenset(
            (each.key, each.operator, frozenset(each.values))
            for each in selector.match_expressions
        )
        texts = frozenset(selector.match_labels.items()), expressions
    return group.kind, group.key, group.namespaces, texts
