"""Spread constraints, compiled once per spec.

Mirrors ``topologySpreadConstraint`` and ``filterTopologySpreadConstraints``
(kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/podtopologyspread/common.go``).
"""

import enum
from collections.abc import Collection, Hashable, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster import Node, Pod
from quaymaster.counting import PodQuery
from quaymaster.objects import (
    NOTHING,
    NodeTerm,
    PodSpec,
    Selector,
    SpecKey,
    Toleration,
    TopologySpreadConstraint,
    compile_label_selector,
    find_untolerated_taint,
    required_node_affinity,
    selector_from_labels,
)

__all__ = ["HOSTNAME", "Action", "Constraint", "compile_constraints", "constraints_of"]

HOSTNAME: Final = "kubernetes.io/hostname"

_HONOR: Final = "Honor"
# The number of cached results per spec: pods that share a spec may differ in namespace
# and in the labels of matchLabelKeys. Chosen, not measured.
_CACHE_LIMIT: Final = 256

_Cache: TypeAlias = "dict[Hashable, tuple[Constraint, ...]]"


class Action(enum.StrEnum):
    """The consequence of a constraint that cannot be satisfied."""

    DO_NOT_SCHEDULE = "DoNotSchedule"
    SCHEDULE_ANYWAY = "ScheduleAnyway"


@attrs.frozen(kw_only=True, cache_hash=True)
class CountedNodes:
    """The nodes whose pods a constraint counts.

    Attributes:
        keys: The labels that they must have: the keys of the pod's constraints.
        selector: The pod's node selector, if it is honoured.
        terms: The terms of its required node affinity; one of them must match.
        tolerations: The pod's tolerations, if taints are honoured.
        compares_numbers: Whether tolerations with ``Gt`` and ``Lt`` count.
    """

    keys: frozenset[str] = frozenset()
    selector: Selector | None = None
    terms: tuple[NodeTerm, ...] | None = None
    tolerations: tuple[Toleration, ...] | None = None
    compares_numbers: bool = False

    def matches(self, node: Node) -> bool:
        """Return whether the pods of a node count."""
        name, labels = node.metadata.name, node.metadata.labels
        if not self.keys <= labels.keys():
            return False
        if self.selector is not None and not self.selector.matches(labels):
            return False
        if self.terms is not None and not any(
            term.matches(name, labels) for term in self.terms
        ):
            return False
        if self.tolerations is None:
            return True
        taint = find_untolerated_taint(
            node.spec.taints, self.tolerations, compares_numbers=self.compares_numbers
        )
        return taint is None


_ALL_NODES: Final = CountedNodes()


@attrs.frozen(kw_only=True, cache_hash=True)
class Constraint:
    """One spread constraint of one pod.

    Attributes:
        max_skew: The allowed difference from the emptiest domain.
        topology_key: The node label whose values are the domains.
        selector: The pods that are spread together.
        min_domains: With fewer domains, the emptiest counts as empty.
        query: The counted pods: those that match the selector, are in the pod's
            namespace and are not being deleted; none for an empty selector.
        where: The nodes whose pods count; None for all with the label.
        honors_taints: Whether nodes with untolerated taints are ignored.
    """

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    query: PodQuery
    where: CountedNodes | None
    honors_taints: bool


def constraints_of(
    pod: Pod, action: Action, *, compares_numbers: bool = False
) -> tuple[Constraint, ...]:
    """Return the pod's own constraints with this action.

    Args:
        pod: The pod.
        action: The action.
        compares_numbers: Whether its tolerations with ``Gt`` and ``Lt`` count.

    Raises:
        SelectorError: Some selector cannot be evaluated.
    """
    chosen = [
        constraint
        for constraint in pod.spec.topology_spread_constraints
        if constraint.when_unsatisfiable == action.value
    ]
    if not chosen:
        return ()
    labels = pod.metadata.labels
    merged = [
        # Only the values of these labels are part of the key: with all labels, each pod
        # of a StatefulSet would compile its own constraints.
        labels.get(key)
        for constraint in chosen
        for key in constraint.match_label_keys
    ]
    cache = _cache_of(pod)
    question = (pod.metadata.namespace, action, compares_numbers, *merged)
    cached = cache.get(question)
    if cached is None:
        selectors = [_selector_of(constraint, pod) for constraint in chosen]
        cached = _compile(
            pod,
            chosen,
            selectors,
            require_all_keys=True,
            compares_numbers=compares_numbers,
        )
        cache[question] = cached
    return cached


def compile_constraints(
    pod: Pod,
    constraints: Sequence[TopologySpreadConstraint],
    selector: Selector,
    *,
    require_all_keys: bool,
    compares_numbers: bool = False,
) -> tuple[Constraint, ...]:
    """Compile default constraints, which all get the same selector.

    Args:
        pod: The pod.
        constraints: The constraints.
        selector: The pods that are spread together.
        require_all_keys: Whether only nodes with all topology keys count.
        compares_numbers: Whether tolerations with ``Gt`` and ``Lt`` count.
    """
    cache = _cache_of(pod)
    question = (
        pod.metadata.namespace,
        tuple(constraints),
        selector,
        require_all_keys,
        compares_numbers,
    )
    cached = cache.get(question)
    if cached is None:
        cached = cache[question] = _compile(
            pod,
            constraints,
            [selector] * len(constraints),
            require_all_keys=require_all_keys,
            compares_numbers=compares_numbers,
        )
    return cached


def _cache_of(pod: Pod) -> _Cache:
    cache = _CACHES.of(pod)
    if len(cache) > _CACHE_LIMIT:
        cache.clear()
    return cache


def _empty_cache(_spec: PodSpec) -> _Cache:
    return {}


_CACHES: Final = SpecKey(_empty_cache)


def _selector_of(constraint: TopologySpreadConstraint, pod: Pod) -> Selector:
    selector = compile_label_selector(constraint.label_selector)
    labels = pod.metadata.labels
    own = {key: labels[key] for key in constraint.match_label_keys if key in labels}
    return selector & selector_from_labels(own) if own else selector


def _compile(
    pod: Pod,
    constraints: Sequence[TopologySpreadConstraint],
    selectors: Sequence[Selector],
    *,
    require_all_keys: bool,
    compares_numbers: bool,
) -> tuple[Constraint, ...]:
    keys = (
        {constraint.topology_key for constraint in constraints}
        if require_all_keys
        else set()
    )
    return tuple(
        Constraint(
            max_skew=constraint.max_skew,
            topology_key=constraint.topology_key,
            selector=selector,
            min_domains=1 if constraint.min_domains is None else constraint.min_domains,
            query=PodQuery(
                # ``countPodsMatchSelector`` counts no pods for an empty selector.
                selector=NOTHING if selector.matches_everything else selector,
                namespaces=frozenset({pod.metadata.namespace}),
            ),
            where=_counted_nodes(
                pod,
                constraint,
                keys - {constraint.topology_key},
                compares_numbers=compares_numbers,
            ),
            honors_taints=constraint.node_taints_policy == _HONOR,
        )
        for constraint, selector in zip(constraints, selectors, strict=True)
    )


def _counted_nodes(
    pod: Pod,
    constraint: TopologySpreadConstraint,
    other_keys: Collection[str],
    *,
    compares_numbers: bool,
) -> CountedNodes | None:
    selector, terms, tolerations = None, None, None
    if constraint.node_affinity_policy in (None, _HONOR):
        required = required_node_affinity(pod)
        if not required.selector.matches_everything:
            selector = required.selector
        if required.affinity is not None:
            terms = required.affinity.terms
    if constraint.node_taints_policy == _HONOR:
        tolerations = pod.spec.tolerations
    counted = CountedNodes(
        keys=frozenset(other_keys),
        selector=selector,
        terms=terms,
        tolerations=tolerations,
        compares_numbers=compares_numbers and tolerations is not None,
    )
    return None if counted == _ALL_NODES else counted
