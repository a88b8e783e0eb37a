"""Preferences of pods, which are given up one by one.

Mirrors ``preferences.go`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import Affinity, Pod, PodSpec, SpecKey, Toleration

__all__ = ["relaxed", "with_tolerated_preferences", "without_first_term"]


class _Weighted(Protocol):
    @property
    def weight(self) -> int: ...


WeightedT = TypeVar("WeightedT", bound=_Weighted)

_TOLERATE_PREFERENCES: Final = Toleration(operator="Exists", effect="PreferNoSchedule")


def without_first_term(spec: PodSpec) -> PodSpec | None:
    """Return a spec without its first required node affinity term, or None.

    The terms are alternatives, so the last one stays.
    """
    affinity = spec.affinity
    nodes = affinity and affinity.node_affinity
    required = nodes and nodes.required_during_scheduling_ignored_during_execution
    if not affinity or not nodes or not required:
        return None
    terms = required.node_selector_terms
    if len(terms) < 2:
        return None
    changed = replace(required, node_selector_terms=terms[1:])
    return _with(
        spec,
        affinity,
        node_affinity=replace(
            nodes, required_during_scheduling_ignored_during_execution=changed
        ),
    )


def _without_pod_preference(spec: PodSpec) -> PodSpec | None:
    affinity = spec.affinity
    pods = affinity and affinity.pod_affinity
    if not affinity or not pods:
        return None
    terms = pods.preferred_during_scheduling_ignored_during_execution
    if not terms:
        return None
    return _with(
        spec,
        affinity,
        pod_affinity=replace(
            pods, preferred_during_scheduling_ignored_during_execution=_lighter(terms)
        ),
    )


def _without_anti_preference(spec: PodSpec) -> PodSpec | None:
    affinity = spec.affinity
    pods = affinity and affinity.pod_anti_affinity
    if not affinity or not pods:
        return None
    terms = pods.preferred_during_scheduling_ignored_during_execution
    if not terms:
        return None
    return _with(
        spec,
        affinity,
        pod_anti_affinity=replace(
            pods, preferred_during_scheduling_ignored_during_execution=_lighter(terms)
        ),
    )


def _without_node_preference(spec: PodSpec) -> PodSpec | None:
    affinity = spec.affinity
    nodes = affinity and affinity.node_affinity
    if not affinity or not nodes:
        return None
    terms = nodes.preferred_during_scheduling_ignored_during_execution
    if not terms:
        return None
    return _with(
        spec,
        affinity,
        node_affinity=replace(
            nodes, preferred_during_scheduling_ignored_during_execution=_lighter(terms)
        ),
    )


def _lighter(terms: Sequence[WeightedT]) -> tuple[WeightedT, ...]:
    """Return all terms but the heaviest."""
    return tuple(sorted(terms, key=lambda term: -term.weight)[1:])


def _with(spec: PodSpec, affinity: Affinity, **changes: object) -> PodSpec:
    return replace(spec, affinity=replace(affinity, **changes))


def _without_soft_spread(spec: PodSpec) -> PodSpec | None:
    constraints = list(spec.topology_spread_constraints)
    for index, constraint in enumerate(constraints):
        if constraint.when_unsatisfiable == "ScheduleAnyway":
            # As upstream: the last one takes its place.
            constraints[index] = constraints[-1]
            return replace(spec, topology_spread_constraints=tuple(constraints[:-1]))
    return None


def _tolerating_preferences(spec: PodSpec) -> PodSpec | None:
    """Return a spec that tolerates all taints of effect PreferNoSchedule, or None."""
    for toleration in spec.tolerations:
        if (
            toleration.operator == _TOLERATE_PREFERENCES.operator
            and toleration.effect == _TOLERATE_PREFERENCES.effect
            and not toleration.key
            and not toleration.value
        ):
            return None
    return replace(spec, tolerations=(*spec.tolerations, _TOLERATE_PREFERENCES))


# In the order of ``Relax`` (preferences.go). A required term goes before any
# preference, as terms are alternatives and give nothing up.
_RELAXATIONS: Final[Sequence[Callable[[PodSpec], PodSpec | None]]] = (
    without_first_term,
    _without_pod_preference,
    _without_anti_preference,
    _without_node_preference,
    _without_soft_spread,
)


def _relaxed_spec(spec: PodSpec) -> PodSpec | None:
    for relax in _RELAXATIONS:
        changed = relax(spec)
        if changed is not None:
            return changed
    return None


_RELAXED: Final = SpecKey(_relaxed_spec)
_TOLERATING: Final = SpecKey(_tolerating_preferences)


def relaxed(pod: Pod, *, tolerates_preferences: bool) -> Pod | None:
    """Return a pod with one preference less, or None if it has none.

    Args:
        pod: The pod.
        tolerates_preferences: Whether it may tolerate taints that only prefer.
    """
    spec = _RELAXED.of(pod)
    if spec is None and tolerates_preferences:
        spec = _TOLERATING.of(pod)
    return None if spec is None else replace(pod, spec=spec)


def with_tolerated_preferences(spec: PodSpec) -> PodSpec:
    """Return a spec that tolerates taints that only prefer."""
    return _TOLERATING.of_spec(spec) or spec
