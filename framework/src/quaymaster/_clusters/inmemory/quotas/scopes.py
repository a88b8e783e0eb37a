"""The scopes of quotas: the objects that a quota counts.

Mirrors ``podMatchesScopeFunc`` and ``pvcMatchesScopeFunc`` in
``pkg/quota/v1/evaluator/core`` (Kubernetes v1.36).
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Final

from quaymaster._api.objects import (
    Affinity,
    ApiObject,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    ResourceQuotaSpec,
    ResourceRequirements,
    ScopedResourceSelectorRequirement,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["is_in_scope"]

_COMPUTE: Final = ("cpu", "memory")
_EMPTY_GATE: Final = "PodLevelResourcesFixKubeletQOSClass"


def is_in_scope(
    obj: ApiObject, spec: ResourceQuotaSpec, kubernetes: Kubernetes
) -> bool:
    """Return whether all scopes of a quota match an object; true without scopes."""
    plain = (
        ScopedResourceSelectorRequirement(scope_name=scope, operator="Exists")
        for scope in spec.scopes
    )
    selector = spec.scope_selector
    chosen = () if selector is None else selector.match_expressions
    return all(_holds(condition, obj, kubernetes) for condition in chain(plain, chosen))


def _holds(
    condition: ScopedResourceSelectorRequirement,
    obj: ApiObject,
    kubernetes: Kubernetes,
) -> bool:
    scope = condition.scope_name
    if isinstance(obj, Pod):
        if scope == "PriorityClass":
            return _selects(condition, obj.spec.priority_class_name)
        if scope in ("BestEffort", "NotBestEffort"):
            return _is_best_effort(obj, kubernetes) is (scope == "BestEffort")
        test = _POD_SCOPES.get(scope)
        return test is not None and test(obj)
    if isinstance(obj, PersistentVolumeClaim) and scope == "VolumeAttributesClass":
        return _selects(condition, obj.spec.volume_attributes_class_name or "")
    return False


def _selects(condition: ScopedResourceSelectorRequirement, value: str) -> bool:
    operator = condition.operator
    if operator == "In":
        return bool(value) and value in condition.values
    if operator == "NotIn":
        # An empty value is in no list, so NotIn holds for it, too.
        return not value or value not in condition.values
    return bool(value) is (operator == "Exists")


def _is_terminating(pod: Pod) -> bool:
    """Return whether the pod has a deadline; this is not about its deletion."""
    seconds = pod.spec.active_deadline_seconds
    return seconds is not None and seconds >= 0


def _is_best_effort(pod: Pod, kubernetes: Kubernetes) -> bool:
    """Return whether no CPU or memory is requested or limited.

    If the pod as a whole has resources, only these count. With the feature gate
    PodLevelResourcesFixKubeletQOSClass, empty ones do not (``ComputePodQOS`` in
    ``pkg/apis/core/helper/qos/qos.go``).
    """
    spec = pod.spec
    if spec.resources is not None and (
        _has_pod_level_resources(spec.resources) or not kubernetes.enabled(_EMPTY_GATE)
    ):
        return not _any_amount(spec.resources.requests, spec.resources.limits)
    containers = (*spec.containers, *spec.init_containers)
    return not any(
        _any_amount(each.resources.requests, each.resources.limits)
        for each in containers
    )


def _has_pod_level_resources(resources: ResourceRequirements) -> bool:
    return any(
        name in _COMPUTE or name.startswith("hugepages-")
        for name in (*resources.requests, *resources.limits)
    )


def _any_amount(*amounts: Mapping[str, Quantity]) -> bool:
    return any(each.get(name) for each in amounts for name in _COMPUTE)


def _looks_beyond_its_namespace(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    if affinity is None:
        return False
    return any(
        # An empty selector counts, too: it selects all namespaces
        # (``usesCrossNamespacePodAffinity``).
        term.namespaces or term.namespace_selector is not None
        for term in _affinity_terms(affinity)
    )


def _affinity_terms(affinity: Affinity) -> Iterator[PodAffinityTerm]:
    for terms in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if terms is not None:
            yield from terms.required_during_scheduling_ignored_during_execution
            preferred = terms.preferred_during_scheduling_ignored_during_execution
            yield from (weighted.pod_affinity_term for weighted in preferred)


_POD_SCOPES: Final[Mapping[str, Callable[[Pod], bool]]] = {
    "Terminating": _is_terminating,
    "NotTerminating": lambda pod: not _is_terminating(pod),
    "CrossNamespacePodAffinity": _looks_beyond_its_namespace,
}
