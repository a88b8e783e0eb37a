"""What a pod requires of the labels of its node.

Mirrors ``newPodRequirements`` (sigs.k8s.io/karpenter v1.15,
``pkg/scheduling/requirements.go``). The results are shared: never change them.
"""

from typing import Final

from quaymaster._api.objects import Pod, PodSpec, SpecKey
from quaymaster._studies.autoscaling.karpenter.go_sort import sort_slice
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements

__all__ = ["pod_requirements", "strict_pod_requirements"]


def _requirements(spec: PodSpec) -> Requirements:
    return _build(spec, with_preferences=True)


def _strict_requirements(spec: PodSpec) -> Requirements:
    return _build(spec, with_preferences=False)


def _build(spec: PodSpec, *, with_preferences: bool) -> Requirements:
    requirements = Requirements.from_labels(spec.node_selector)
    affinity = spec.affinity and spec.affinity.node_affinity
    if not affinity:
        return requirements
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    if with_preferences and preferred:
        # The heaviest preference counts as if it were required until it is relaxed, and
        # lighter ones do not count at all. Among equal weights the order of Go's
        # unstable sort decides.
        heaviest = sort_slice(preferred, lambda term: -term.weight)[0]
        conditions = heaviest.preference.match_expressions
        requirements.add(Requirements.from_conditions(conditions))
    required = affinity.required_during_scheduling_ignored_during_execution
    if required and required.node_selector_terms:
        # The terms are alternatives, but only the first is tried. A relaxation drops
        # it, and the next takes its place.
        first = required.node_selector_terms[0]
        requirements.add(Requirements.from_conditions(first.match_expressions))
    return requirements


_ALL: Final = SpecKey(_requirements)
_STRICT: Final = SpecKey(_strict_requirements)


def pod_requirements(pod: Pod) -> Requirements:
    """Return the node selector, the first term and the heaviest preference."""
    return _ALL.of(pod)


def strict_pod_requirements(pod: Pod) -> Requirements:
    """Return the node selector and the first required term."""
    return _STRICT.of(pod)
