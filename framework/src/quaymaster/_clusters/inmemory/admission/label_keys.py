"""``matchLabelKeys`` and ``mismatchLabelKeys``, merged into the selectors beside them.

Mirrors ``applyLabelKeysToLabelSelector`` and its callers (Kubernetes v1.36,
``pkg/registry/core/pod/strategy.go``).
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PodSpec,
    SpecKey,
    TopologySpreadConstraint,
)

__all__ = ["label_keys_of", "merge_label_keys"]

_AffinityT = TypeVar("_AffinityT", PodAffinity, PodAntiAffinity)


def label_keys_of(spec: PodSpec) -> tuple[str, ...]:
    """Return the keys whose values a spec takes from the labels of its pod."""
    # Cached on the spec: pods of one template share it, and most have no label keys at
    # all.
    return _LABEL_KEYS.of_spec(spec)


def _find_label_keys(spec: PodSpec) -> tuple[str, ...]:
    keys = {key for c in spec.topology_spread_constraints for key in _keys(c)}
    for affinity in _pod_affinities(spec):
        for term in _terms(affinity):
            keys.update(_keys(term))
    return tuple(sorted(keys))


_LABEL_KEYS: Final = SpecKey(_find_label_keys)


def merge_label_keys(spec: PodSpec, labels: Mapping[str, str]) -> PodSpec:
    """Return the spec of a pod, its selectors narrowed by the pod's labels.

    A selector that is already narrowed stays as it is, so a pod that was read from one
    cluster can be loaded into another.
    """
    constraints = tuple(
        _narrow(c, labels) if c.match_label_keys else c
        for c in spec.topology_spread_constraints
    )
    affinity = spec.affinity
    if affinity is not None:
        affinity = replace(
            affinity,
            pod_affinity=_merge_terms(affinity.pod_affinity, labels),
            pod_anti_affinity=_merge_terms(affinity.pod_anti_affinity, labels),
        )
    return replace(spec, topology_spread_constraints=constraints, affinity=affinity)


def _pod_affinities(spec: PodSpec) -> tuple[PodAffinity | PodAntiAffinity, ...]:
    affinity = spec.affinity
    if affinity is None:
        return ()
    both = (affinity.pod_affinity, affinity.pod_anti_affinity)
    return tuple(part for part in both if part is not None)


def _terms(affinity: PodAffinity | PodAntiAffinity) -> tuple[PodAffinityTerm, ...]:
    required = affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return (*required, *(weighted.pod_affinity_term for weighted in preferred))


def _keys(term: PodAffinityTerm | TopologySpreadConstraint) -> tuple[str, ...]:
    if isinstance(term, TopologySpreadConstraint):
        return term.match_label_keys
    return (*term.match_label_keys, *term.mismatch_label_keys)


def _merge_terms(
    affinity: _AffinityT | None, labels: Mapping[str, str]
) -> _AffinityT | None:
    if affinity is None:
        return None
    required = affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return replace(
        affinity,
        required_during_scheduling_ignored_during_execution=tuple(
            _narrow(term, labels) for term in required
        ),
        preferred_during_scheduling_ignored_during_execution=tuple(
            replace(
                weighted,
                pod_affinity_term=_narrow(weighted.pod_affinity_term, labels),
            )
            for weighted in preferred
        ),
    )


_TermT = TypeVar("_TermT", PodAffinityTerm, TopologySpreadConstraint)


def _narrow(term: _TermT, labels: Mapping[str, str]) -> _TermT:
    selector = term.label_selector
    if selector is None:  # it selects nothing, so nothing can be narrowed
        return term
    selector = _with_keys(selector, term.match_label_keys, "In", labels)
    if isinstance(term, PodAffinityTerm):
        selector = _with_keys(selector, term.mismatch_label_keys, "NotIn", labels)
    return replace(term, label_selector=selector)


def _with_keys(
    selector: LabelSelector,
    keys: tuple[str, ...],
    operator: str,
    labels: Mapping[str, str],
) -> LabelSelector:
    conditions = selector.match_expressions
    requirements = (
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for key in keys
        # A key that the pod lacks is ignored, as upstream documents for
        # ``matchLabelKeys``.
        if key in labels
    )
    added = tuple(
        condition for condition in requirements if condition not in conditions
    )
    if not added:
        return selector
    return replace(selector, match_expressions=(*conditions, *added))
