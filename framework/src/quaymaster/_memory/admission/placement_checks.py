"""What is wrong with affinities and spread constraints.

Mirrors ``validateAffinity`` and ``validateTopologySpreadConstraints`` (Kubernetes
v1.36, ``pkg/apis/core/validation/validation.go``).
"""

from typing import Final

from quaymaster._memory.admission.problems import Report
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    Affinity,
    LabelSelector,
    NodeAffinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
)
from quaymaster.selectors import (
    compile_label_selector,
    compile_node_selector,
    compile_preferred_terms,
)

__all__ = ["check_affinity", "check_selector", "check_spreading"]

_WHEN: Final = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES: Final = ("Honor", "Ignore")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def check_affinity(affinity: Affinity, report: Report) -> None:
    """Everything about an affinity: operators, weights, topology keys, selectors."""
    if affinity.node_affinity is not None:
        _check_node_affinity(affinity.node_affinity, report)
    if affinity.pod_affinity is not None:
        _check_pod_affinity(affinity.pod_affinity, "affinity.podAffinity", report)
    if affinity.pod_anti_affinity is not None:
        path = "affinity.podAntiAffinity"
        _check_pod_affinity(affinity.pod_anti_affinity, path, report)


def check_spreading(
    constraints: tuple[TopologySpreadConstraint, ...], report: Report
) -> None:
    """Everything about spread constraints, each of its own key and strictness."""
    for index, constraint in enumerate(constraints):
        path = f"topologySpreadConstraints[{index}]"
        _check_constraint(constraint, path, report)
    report.unique(
        (
            (f"topologySpreadConstraints[{i}]", _kind(c))
            for i, c in enumerate(constraints)
        ),
        "topologyKey and whenUnsatisfiable",
    )


def check_selector(selector: LabelSelector | None, path: str, report: Report) -> None:
    """Whether a label selector can be evaluated."""
    try:
        compile_label_selector(selector)
    except SelectorError as error:
        for problem in error.problems:
            field, _, message = problem.partition(": ")
            report.add(f"{path}.{field}", message)


def _check_node_affinity(affinity: NodeAffinity, report: Report) -> None:
    path = "affinity.nodeAffinity"
    required = affinity.required_during_scheduling_ignored_during_execution
    if required is not None:
        where = f"{path}.{_REQUIRED}"
        if not required.node_selector_terms:
            report.add(f"{where}.nodeSelectorTerms", "expected at least one term")
        for problem in compile_node_selector(required, path=where).problems:
            field, _, message = problem.partition(": ")
            report.add(field, message)
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    where = f"{path}.{_PREFERRED}"
    for index, term in enumerate(preferred):
        _check_weight(term.weight, f"{where}[{index}].weight", report)
    try:
        compile_preferred_terms(preferred, path=where)
    except SelectorError as error:
        for problem in error.problems:
            field, _, message = problem.partition(": ")
            report.add(field, message)


def _check_pod_affinity(
    affinity: PodAffinity | PodAntiAffinity, path: str, report: Report
) -> None:
    required = affinity.required_during_scheduling_ignored_during_execution
    for index, term in enumerate(required):
        _check_term(term, f"{path}.{_REQUIRED}[{index}]", report)
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    for index, weighted in enumerate(preferred):
        where = f"{path}.{_PREFERRED}[{index}]"
        _check_weight(weighted.weight, f"{where}.weight", report)
        _check_term(weighted.pod_affinity_term, f"{where}.podAffinityTerm", report)


def _check_term(term: PodAffinityTerm, path: str, report: Report) -> None:
    if not term.topology_key:
        report.add(f"{path}.topologyKey", "expected a node label, got none")
    check_selector(term.label_selector, f"{path}.labelSelector", report)
    check_selector(term.namespace_selector, f"{path}.namespaceSelector", report)
    keys = (*term.match_label_keys, *term.mismatch_label_keys)
    if keys and term.label_selector is None:
        report.add(f"{path}.labelSelector", "expected a selector beside label keys")
    report.unique(((f"{path}.matchLabelKeys", key) for key in keys), "label key")


def _check_weight(weight: int, path: str, report: Report) -> None:
    report.expect(1 <= weight <= 100, path, "a number from 1 to 100", weight)


def _check_constraint(
    constraint: TopologySpreadConstraint, path: str, report: Report
) -> None:
    skew, domains = constraint.max_skew, constraint.min_domains
    report.expect(skew > 0, f"{path}.maxSkew", "a number of at least 1", skew)
    if not constraint.topology_key:
        report.add(f"{path}.topologyKey", "expected a node label, got none")
    when = constraint.when_unsatisfiable
    report.one_of(when, _WHEN, f"{path}.whenUnsatisfiable")
    if domains is not None:
        where = f"{path}.minDomains"
        report.expect(domains > 0, where, "a number of at least 1", domains)
        if when != "DoNotSchedule":
            report.add(where, "expected only with whenUnsatisfiable DoNotSchedule")
    for field, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy is not None:
            report.one_of(policy, _POLICIES, f"{path}.{field}")
    check_selector(constraint.label_selector, f"{path}.labelSelector", report)
    keys = constraint.match_label_keys
    if keys and constraint.label_selector is None:
        report.add(f"{path}.labelSelector", "expected a selector beside matchLabelKeys")
    report.unique(((f"{path}.matchLabelKeys", key) for key in keys), "label key")


def _kind(constraint: TopologySpreadConstraint) -> str:
    return f"{constraint.topology_key}, {constraint.when_unsatisfiable}"
