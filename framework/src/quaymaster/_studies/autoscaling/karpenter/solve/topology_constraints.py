"""The constraints of pods as groups; equal ones are one group.

Mirrors ``newForTopologies``, ``newForAffinities`` and ``Hash`` (sigs.k8s.io/karpenter
v1.15, ``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    Namespace,
    Pod,
    PodAffinityTerm,
    TopologySpreadConstraint,
)
from quaymaster._api.objects.selectors import (
    NOTHING,
    Selector,
    SelectorError,
    compile_label_selector,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.solve.chance import Chance
from quaymaster._studies.autoscaling.karpenter.solve.topology_domains import DomainGroup
from quaymaster._studies.autoscaling.karpenter.solve.topology_filter import (
    ALL_NODES,
    node_filter,
)
from quaymaster._studies.autoscaling.karpenter.solve.topology_group import (
    TopologyGroup,
    TopologyKind,
)

__all__ = ["Constraint", "Constraints"]

_DO_NOT_SCHEDULE: Final = "DoNotSchedule"
_NO_DOMAINS: Final = DomainGroup()


@attrs.frozen(eq=False)
class Constraint:
    """A constraint of a pod.

    Attributes:
        identity: What makes two constraints one group.
        pods: What makes two groups select the same pods.
        make: Makes the group.
    """

    identity: object
    pods: object
    make: Callable[[], TopologyGroup]


class Constraints:
    """Reads the constraints of pods.

    Args:
        state: The cluster.
        domains: The values that new nodes can have, by label.
        chance: Draws among equal domains.
        ignores_preferences: Whether preferences do not count.
    """

    def __init__(
        self,
        state: ClusterState,
        domains: Mapping[str, DomainGroup],
        chance: Chance,
        *,
        ignores_preferences: bool,
    ) -> None:
        self._state = state
        self._domains = domains
        self._chance = chance
        self._ignores_preferences = ignores_preferences

    def of_pod(self, pod: Pod) -> Iterator[Constraint]:
        """Yield the constraints of a pod, with those that it prefers."""
        for constraint in pod.spec.topology_spread_constraints:
            hard = constraint.when_unsatisfiable == _DO_NOT_SCHEDULE
            if hard or not self._ignores_preferences:
                yield self._spread(pod, constraint)
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

    def anti_affinity(self, pod: Pod, term: PodAffinityTerm) -> Constraint:
        """Return the constraint of a required anti-affinity of a pod."""
        return self._of_term(pod, term, TopologyKind.ANTI_AFFINITY)

    def _spread(self, pod: Pod, constraint: TopologySpreadConstraint) -> Constraint:
        selector = _with_label_keys(pod, constraint)
        nodes = node_filter(
            pod, constraint.node_affinity_policy, constraint.node_taints_policy
        )
        namespaces = frozenset({pod.namespace})

        def make() -> TopologyGroup:
            domains = self._domains.get(constraint.topology_key, _NO_DOMAINS)
            return TopologyGroup(
                kind=TopologyKind.SPREAD,
                key=constraint.topology_key,
                namespaces=namespaces,
                selector=_compiled(selector),
                node_filter=nodes,
                domains=(
                    domains.tolerated_domains(pod.spec.tolerations)
                    if nodes.honors_taints
                    else domains.all_domains()
                ),
                chance=self._chance,
                max_skew=constraint.max_skew,
                min_domains=constraint.min_domains,
                counts_all=selector is None,
            )

        pods = constraint.topology_key, namespaces, _shape(selector)
        # The least number of domains is not a part of upstream's hash.
        identity = TopologyKind.SPREAD, pods, constraint.max_skew, nodes.shape
        return Constraint(identity, pods, make)

    def _of_term(
        self, pod: Pod, term: PodAffinityTerm, kind: TopologyKind
    ) -> Constraint:
        namespaces = self._namespaces(pod, term)

        def make() -> TopologyGroup:
            domains = self._domains.get(term.topology_key, _NO_DOMAINS)
            return TopologyGroup(
                kind=kind,
                key=term.topology_key,
                namespaces=namespaces,
                selector=_compiled(term.label_selector),
                node_filter=ALL_NODES,
                domains=domains.tolerated_domains(pod.spec.tolerations),
                chance=self._chance,
                counts_all=term.label_selector is None,
            )

        pods = term.topology_key, namespaces, _shape(term.label_selector)
        return Constraint((kind, pods), pods, make)

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


def _shape(selector: LabelSelector | None) -> object:
    """Return a selector without its order; none differs from an empty one."""
    if selector is None:
        return None
    expressions = frozenset(
        (each.key, each.operator, frozenset(each.values))
        for each in selector.match_expressions
    )
    return frozenset(selector.match_labels.items()), expressions
