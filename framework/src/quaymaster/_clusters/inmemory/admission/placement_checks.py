"""Checks selectors, affinities and spread constraints.

Mirrors ``ValidateLabelSelector`` (k8s.io/apimachinery v0.36), ``validateAffinity`` and
``validateTopologySpreadConstraints`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``).
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from quaymaster._api.objects import (
    Affinity,
    LabelSelector,
    LabelSelectorRequirement,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import (
    DNS_LABEL,
    LABEL_KEY,
    LABEL_VALUE,
    SUBDOMAIN,
)
from quaymaster._clusters.inmemory.admission.metadata_checks import check_labels

__all__ = [
    "check_affinity",
    "check_narrowed_selectors",
    "check_node_selector",
    "check_selector",
    "check_spreading",
]

_WHEN: Final = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES: Final = ("Honor", "Ignore")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

# How many values each operator takes, in words and as a test.
_VALUES: Final[dict[str, tuple[str, Callable[[int], bool]]]] = {
    "In": ("at least one value", bool),
    "NotIn": ("at least one value", bool),
    "Exists": ("no values", lambda count: not count),
    "DoesNotExist": ("no values", lambda count: not count),
    "Gt": ("one value", lambda count: count == 1),
    "Lt": ("one value", lambda count: count == 1),
}
_LABEL_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")
_NODE_OPERATORS: Final = (*_LABEL_OPERATORS, "Gt", "Lt")

_Requirement: TypeAlias = LabelSelectorRequirement | NodeSelectorRequirement


def check_selector(selector: LabelSelector | None, path: str, report: Report) -> None:
    """Check that a label selector can be evaluated."""
    if selector is None:
        return
    check_labels(selector.match_labels, f"{path}.matchLabels", report)
    for index, condition in enumerate(selector.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        _check_condition(condition, _LABEL_OPERATORS, where, report)
        _check_values(condition, where, report)


def check_node_selector(selector: NodeSelector, path: str, report: Report) -> None:
    """Check that a node selector has terms, and that they can be evaluated."""
    if not selector.node_selector_terms:
        report.add(f"{path}.nodeSelectorTerms", "expected at least one term, got none")
    for index, term in enumerate(selector.node_selector_terms):
        where = f"{path}.nodeSelectorTerms[{index}]"
        _check_node_term(term, where, report)
        for number, condition in enumerate(term.match_expressions):
            # Values are checked for required terms only: ``ValidateNodeSelector`` is
            # stricter than the check of preferred terms, where bad values select
            # nothing.
            _check_values(condition, f"{where}.matchExpressions[{number}]", report)


def check_affinity(affinity: Affinity, path: str, report: Report) -> None:
    """Check an affinity: operators, weights, topology keys, selectors."""
    if affinity.node_affinity is not None:
        _check_node_affinity(affinity.node_affinity, f"{path}.nodeAffinity", report)
    for field, part in _pod_affinities(affinity):
        for where, term in _terms(part, f"{path}.{field}"):
            _check_term(term, where, report)
        _check_weights(part, f"{path}.{field}", report)


def check_spreading(
    constraints: tuple[TopologySpreadConstraint, ...], path: str, report: Report
) -> None:
    """Check spread constraints; no two may have the same key and strictness."""
    kinds = [(c.topology_key, c.when_unsatisfiable) for c in constraints]
    for index, constraint in enumerate(constraints):
        where = f"{path}[{index}]"
        _check_constraint(constraint, where, report)
        # Each constraint is compared with those after it, so that of two equal ones the
        # first is reported.
        if kinds[index] in kinds[index + 1 :]:
            report.add(
                f"{where}.{{topologyKey, whenUnsatisfiable}}",
                "expected a topologyKey and whenUnsatisfiable of its own, got "
                f"{', '.join(kinds[index])!r} again",
            )


def check_narrowed_selectors(
    affinity: Affinity | None,
    constraints: tuple[TopologySpreadConstraint, ...],
    report: Report,
) -> None:
    """Check that no label is both a label key and in the selector that it narrows.

    The label keys have already been merged into these selectors, if the pod has the
    labels. Paths begin below the spec.
    """
    for index, constraint in enumerate(constraints):
        where = f"topologySpreadConstraints[{index}]"
        _check_narrowed(constraint, where, report)
    if affinity is not None:
        for field, part in _pod_affinities(affinity):
            for where, term in _terms(part, f"affinity.{field}"):
                _check_narrowed(term, where, report)


def _check_narrowed(
    term: PodAffinityTerm | TopologySpreadConstraint, path: str, report: Report
) -> None:
    selector, keys = term.label_selector, term.match_label_keys
    if selector is None:
        return
    seen = set(selector.match_labels)
    for condition in selector.match_expressions:
        key = condition.key
        if key in keys and key in seen:
            # The path of upstream: its set of keys remembers the last index of a
            # repeated key.
            last = len(keys) - 1 - keys[::-1].index(key)
            expected = "a label that is not in labelSelector, too"
            report.expect(False, f"{path}[{last}]", expected, key)
        seen.add(key)


def _check_node_affinity(affinity: NodeAffinity, path: str, report: Report) -> None:
    required = affinity.required_during_scheduling_ignored_during_execution
    if required is not None:
        check_node_selector(required, f"{path}.{_REQUIRED}", report)
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    for index, term in enumerate(preferred):
        where = f"{path}.{_PREFERRED}[{index}]"
        _check_weight(term.weight, where, report)
        _check_node_term(term.preference, f"{where}.preference", report)


def _check_node_term(term: NodeSelectorTerm, path: str, report: Report) -> None:
    """Check a term of node affinity; the form of values counts if it is required.

    A Gt or Lt with a value that is not an integer is accepted: the scheduler handles
    it.
    """
    for index, condition in enumerate(term.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        _check_condition(condition, _NODE_OPERATORS, where, report)
    for index, condition in enumerate(term.match_fields):
        _check_field(condition, f"{path}.matchFields[{index}]", report)


def _check_field(condition: NodeSelectorRequirement, path: str, report: Report) -> None:
    report.one_of(condition.operator, ("In", "NotIn"), f"{path}.operator")
    if condition.operator in ("In", "NotIn") and len(condition.values) != 1:
        got = list(condition.values)
        report.expect(False, f"{path}.values", "one value", got)
    if condition.key != "metadata.name":
        report.expect(False, f"{path}.key", "metadata.name", condition.key)
        return
    for index, value in enumerate(condition.values):
        report.formed(value, SUBDOMAIN, f"{path}.values[{index}]")


def _check_condition(
    condition: _Requirement, operators: tuple[str, ...], path: str, report: Report
) -> None:
    operator = condition.operator
    if operator in operators:
        expected, is_right = _VALUES[operator]
        if not is_right(len(condition.values)):
            got = list(condition.values)
            report.expect(False, f"{path}.values", f"{expected} for {operator}", got)
    else:
        report.one_of(operator, operators, f"{path}.operator")
    report.formed(condition.key, LABEL_KEY, f"{path}.key")


def _check_values(condition: _Requirement, path: str, report: Report) -> None:
    for index, value in enumerate(condition.values):
        report.formed(value, LABEL_VALUE, f"{path}.values[{index}]")


def _pod_affinities(
    affinity: Affinity,
) -> Iterator[tuple[str, PodAffinity | PodAntiAffinity]]:
    if affinity.pod_affinity is not None:
        yield "podAffinity", affinity.pod_affinity
    if affinity.pod_anti_affinity is not None:
        yield "podAntiAffinity", affinity.pod_anti_affinity


def _terms(
    affinity: PodAffinity | PodAntiAffinity, path: str
) -> list[tuple[str, PodAffinityTerm]]:
    """Return all terms of pod affinity, each with its path."""
    required = affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return [
        *((f"{path}.{_REQUIRED}[{i}]", term) for i, term in enumerate(required)),
        *(
            (f"{path}.{_PREFERRED}[{i}].podAffinityTerm", term.pod_affinity_term)
            for i, term in enumerate(preferred)
        ),
    ]


def _check_weights(
    affinity: PodAffinity | PodAntiAffinity, path: str, report: Report
) -> None:
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    for index, term in enumerate(preferred):
        _check_weight(term.weight, f"{path}.{_PREFERRED}[{index}]", report)


def _check_weight(weight: int, path: str, report: Report) -> None:
    report.in_range(weight, f"{path}.weight", 1, 100)


def _check_term(term: PodAffinityTerm, path: str, report: Report) -> None:
    check_selector(term.label_selector, f"{path}.labelSelector", report)
    check_selector(term.namespace_selector, f"{path}.namespaceSelector", report)
    for namespace in term.namespaces:
        report.formed(namespace, DNS_LABEL, f"{path}.namespace")
    _check_label_keys(term, path, report)
    where = f"{path}.mismatchLabelKeys"
    _check_keys(term.mismatch_label_keys, term.label_selector, where, report)
    for index, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            expected = "a label that is not in mismatchLabelKeys, too"
            report.expect(False, f"{path}.matchLabelKeys[{index}]", expected, key)
    if term.topology_key:
        report.formed(term.topology_key, LABEL_KEY, f"{path}.topologyKey")
    else:
        report.add(f"{path}.topologyKey", "expected a node label, got none")


def _check_constraint(
    constraint: TopologySpreadConstraint, path: str, report: Report
) -> None:
    report.at_least(constraint.max_skew, f"{path}.maxSkew", 1)
    # As upstream, the key need not be a possible label.
    if not constraint.topology_key:
        report.add(f"{path}.topologyKey", "expected a node label, got none")
    when, domains = constraint.when_unsatisfiable, constraint.min_domains
    report.one_of(when, _WHEN, f"{path}.whenUnsatisfiable")
    report.at_least(domains, f"{path}.minDomains", 1)
    if domains is not None and when != "DoNotSchedule":
        message = "expected only with whenUnsatisfiable DoNotSchedule"
        report.add(f"{path}.minDomains", message)
    for field, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy is not None:
            report.one_of(policy, _POLICIES, f"{path}.{field}")
    _check_label_keys(constraint, path, report)
    check_selector(constraint.label_selector, f"{path}.labelSelector", report)


def _check_label_keys(
    term: PodAffinityTerm | TopologySpreadConstraint, path: str, report: Report
) -> None:
    where = f"{path}.matchLabelKeys"
    _check_keys(term.match_label_keys, term.label_selector, where, report)


def _check_keys(
    keys: tuple[str, ...],
    selector: LabelSelector | None,
    path: str,
    report: Report,
) -> None:
    if keys and selector is None:
        report.add(path, "expected a labelSelector beside label keys")
        return
    for index, key in enumerate(keys):
        report.formed(key, LABEL_KEY, f"{path}[{index}]")
