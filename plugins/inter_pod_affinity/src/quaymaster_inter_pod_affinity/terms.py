"""A pod's affinity and anti-affinity terms, compiled once per spec and namespace.

Mirrors ``PodInfo.Update`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/types.go``).
"""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster import Pod
from quaymaster.counting import (
    ExistingPodTerm,
    Namespaces,
    PodQuery,
    PodTerm,
    compile_pod_terms,
)
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    EVERYTHING,
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PodSpec,
    Selector,
    SpecKey,
    WeightedPodAffinityTerm,
)

__all__ = [
    "HARD",
    "NO_TERMS",
    "AffinityTerms",
    "Queries",
    "affinity_terms",
    "existing_anti_affinity",
    "existing_preferences",
    "matches_all",
    "matches_any",
]

HARD: Final = "required affinity"
"""The kind of existing pods' terms whose weight is set by the profile."""

_NO_LABELS: Final[Mapping[str, str]] = {}


class Queries:
    """Creates queries for a pod's terms; they follow changed labels of namespaces."""

    __slots__ = ("_queries",)

    def __init__(self) -> None:
        self._queries: dict[tuple[PodTerm, ...], PodQuery] = {}

    def of(self, terms: tuple[PodTerm, ...], namespaces: Namespaces) -> PodQuery:
        """Return a query for pods, terminating ones too, that match all terms."""
        where = _common(terms, namespaces)
        query = self._queries.get(terms)
        if query is None or query.namespaces != where:
            selector: Selector = EVERYTHING
            for term in terms:
                selector = selector & term.selector
            query = PodQuery(selector=selector, namespaces=where, terminating=True)
            self._queries[terms] = query
        return query


def _common(
    terms: tuple[PodTerm, ...], namespaces: Namespaces
) -> frozenset[str] | None:
    common: frozenset[str] | None = None
    for term in terms:
        names = namespaces.of(term)
        if common is None or names is None:
            common = names if common is None else common
        else:
            common &= names
    return common


@attrs.frozen(kw_only=True, eq=False)
class AffinityTerms:
    """The affinity and anti-affinity terms of a pod.

    Attributes:
        affinity: Required: some pod that matches all of them must be near.
        anti_affinity: Required: no pod that matches any of them may be near.
        preferences: Weights and terms; the weight of an anti-affinity is negative.
        has_preferences: Whether the pod has preferred terms, valid or not.
        problems: Errors in terms that cannot be evaluated; a list with such a term
            counts as empty.
        existing_anti: The required anti-affinity, as counted for other pods.
        existing_preferences: All other terms, as counted for other pods.
        queries: The queries for the terms.
    """

    affinity: tuple[PodTerm, ...] = ()
    anti_affinity: tuple[PodTerm, ...] = ()
    preferences: tuple[tuple[int, PodTerm], ...] = ()
    has_preferences: bool = False
    problems: tuple[str, ...] = ()
    existing_anti: tuple[ExistingPodTerm, ...] = ()
    existing_preferences: tuple[ExistingPodTerm, ...] = ()
    queries: Queries = attrs.field(factory=Queries)

    @property
    def problem(self) -> str:
        """All problems in one text; empty without problems."""
        if len(self.problems) < 2:
            return "".join(self.problems)
        return f"[{', '.join(self.problems)}]"


NO_TERMS: Final = AffinityTerms()
"""The terms of a pod without affinity."""


def affinity_terms(pod: Pod) -> AffinityTerms:
    """Return the affinity and anti-affinity terms of a pod."""
    spec = pod.spec
    if spec.affinity is None:
        return NO_TERMS
    by_namespace, namespace = _TERMS.of_spec(spec), pod.metadata.namespace
    terms = by_namespace.get(namespace)
    if terms is None:
        terms = by_namespace[namespace] = _terms(spec.affinity, namespace)
    return terms


def _none_yet(_spec: PodSpec) -> dict[str, AffinityTerms]:
    return {}


_TERMS: Final = SpecKey(_none_yet)  # by namespace


def _terms(affinity: Affinity, namespace: str) -> AffinityTerms:
    if affinity.pod_affinity is None and affinity.pod_anti_affinity is None:
        return NO_TERMS
    return _compile(affinity, namespace)


def existing_anti_affinity(pod: Pod) -> Sequence[ExistingPodTerm]:
    """Return the terms of a running pod that reject other pods."""
    if pod.spec.affinity is None:  # fast path: called for each added or removed pod
        return ()
    return affinity_terms(pod).existing_anti


def existing_preferences(pod: Pod) -> Sequence[ExistingPodTerm]:
    """Return the terms of a running pod that change the scores of other pods."""
    if pod.spec.affinity is None:  # as above
        return ()
    return affinity_terms(pod).existing_preferences


def matches_all(terms: Sequence[PodTerm], pod: Pod) -> bool:
    """Return whether a pod matches all terms; there must be at least one.

    Like upstream's hints, this assumes that namespaces have no labels.
    """
    metadata = pod.metadata
    # Upstream's helper is false without terms; an empty `all` would be true.
    return bool(terms) and all(
        term.selects(metadata.namespace, _NO_LABELS, metadata.labels) for term in terms
    )


def matches_any(terms: Sequence[PodTerm], pod: Pod) -> bool:
    """Return whether a pod matches at least one of some terms.

    Like upstream's hints, this assumes that namespaces have no labels.
    """
    metadata = pod.metadata
    return any(
        term.selects(metadata.namespace, _NO_LABELS, metadata.labels) for term in terms
    )


class _Compiler:
    """Compiles the lists of terms of a pod, and collects their problems."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self.problems: list[str] = []

    def required(
        self, name: str, terms: Sequence[PodAffinityTerm]
    ) -> tuple[PodTerm, ...]:
        try:
            return compile_pod_terms(terms, self._namespace)
        except SelectorError as error:
            self.problems.append(f"{name}: {error}")
            return ()

    def preferred(
        self, name: str, terms: Sequence[WeightedPodAffinityTerm], sign: int
    ) -> list[tuple[int, PodTerm]]:
        compiled = self.required(name, [term.pod_affinity_term for term in terms])
        weights = [sign * term.weight for term in terms]
        return list(zip(weights, compiled, strict=False))


def _compile(affinity: Affinity, namespace: str) -> AffinityTerms:
    near = affinity.pod_affinity or PodAffinity()
    away = affinity.pod_anti_affinity or PodAntiAffinity()
    compiler = _Compiler(namespace)
    must = compiler.required(
        "requiredAffinityTerms",
        near.required_during_scheduling_ignored_during_execution,
    )
    must_not = compiler.required(
        "requiredAntiAffinityTerms",
        away.required_during_scheduling_ignored_during_execution,
    )
    liked = near.preferred_during_scheduling_ignored_during_execution
    disliked = away.preferred_during_scheduling_ignored_during_execution
    preferences = (
        *compiler.preferred("preferredAffinityTerms", liked, 1),
        *compiler.preferred("preferredAntiAffinityTerms", disliked, -1),
    )
    return AffinityTerms(
        affinity=must,
        anti_affinity=must_not,
        preferences=preferences,
        has_preferences=bool(liked or disliked),
        problems=tuple(compiler.problems),
        existing_anti=tuple(ExistingPodTerm(term) for term in must_not),
        # Required affinity counts as a preference of the existing pod, with the
        # profile's hardPodAffinityWeight; required anti-affinity does not.
        existing_preferences=(
            *(ExistingPodTerm(term, kind=HARD) for term in must),
            *(ExistingPodTerm(term, weight=weight) for weight, term in preferences),
        ),
    )
