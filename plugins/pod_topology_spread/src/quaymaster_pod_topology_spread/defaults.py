"""Selectors of default constraints, from services and controllers.

Mirrors ``DefaultSelector`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/helper/spread.go``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from quaymaster import ApiObject, Informers, Pod
from quaymaster.columns import Revised
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    EVERYTHING,
    LabelSelector,
    OwnerReference,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicationController,
    ReplicationControllerSpec,
    Selector,
    Service,
    StatefulSet,
    StatefulSetSpec,
    TopologySpreadConstraint,
    compile_label_selector,
    selector_from_labels,
)

__all__ = ["SYSTEM_CONSTRAINTS", "DefaultSelectors"]

SYSTEM_CONSTRAINTS: Final = (
    TopologySpreadConstraint(
        topology_key="kubernetes.io/hostname",
        when_unsatisfiable="ScheduleAnyway",
        max_skew=3,
    ),
    TopologySpreadConstraint(
        topology_key="topology.kubernetes.io/zone",
        when_unsatisfiable="ScheduleAnyway",
        max_skew=5,
    ),
)

_Controller: TypeAlias = ReplicationController | ReplicaSet | StatefulSet
_Spec: TypeAlias = ReplicationControllerSpec | ReplicaSetSpec | StatefulSetSpec

_CONTROLLERS: Final[tuple[type[_Controller], ...]] = (
    ReplicationController,
    ReplicaSet,
    StatefulSet,
)

# The number of cached controllers. Chosen, not measured.
_MOST: Final = 1 << 12


class _CachedDefaults(NamedTuple):
    """The cached selector of a controller's pods, and the objects behind it."""

    spec: _Spec | None
    services: Sequence[Service]
    labels: Mapping[str, str]
    selector: Selector


class DefaultSelectors:
    """Finds the services that select a pod, and its controller.

    Args:
        informers: The source of services and controllers.
    """

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._changes = informers.changes(Service)
        self._services = informers.index(Service, by=lambda service: service.namespace)
        # By controller, because all of its pods have the same selector: without this,
        # it would be joined, and compiled, for each of them.
        self._cached: dict[tuple[str, str, str], _CachedDefaults] = {}

    def of(self, pod: Pod) -> Selector:
        """Return the joined selector of a pod's services and controller."""
        metadata = pod.metadata
        owner = metadata.controller
        services = self._services.get(metadata.namespace)
        if owner is None:
            if not services:
                return EVERYTHING
            return selector_from_labels(_service_labels(pod, services))
        spec = self._spec_of(owner, metadata.namespace)
        key = (metadata.namespace, owner.kind, owner.name)
        cached = self._cached.get(key)
        # Identity: a changed object is a new one. A status update keeps the spec, and
        # the index returns the same services until one of the namespace changes.
        if (
            cached is None
            or cached.spec is not spec
            or cached.services is not services
            or cached.labels != metadata.labels
        ):
            selector = _selector_of(_service_labels(pod, services), spec)
            cached = _CachedDefaults(spec, services, metadata.labels, selector)
            if len(self._cached) >= _MOST:
                self._cached.clear()
            self._cached[key] = cached
        return cached.selector

    def revised(self, pod: Pod) -> Sequence[Revised]:
        """Return revisions that change before the selector of such a pod can change."""
        owner = pod.metadata.controller
        if owner is None:
            return (self._changes,)
        kinds = [kind for kind in _CONTROLLERS if _is_of(owner, kind)]
        return (self._changes, *map(self._informers.changes, kinds))

    def _spec_of(self, owner: OwnerReference, namespace: str) -> _Spec | None:
        """Return the spec of a controller whose pods are spread, if it exists."""
        for kind in _CONTROLLERS:
            if _is_of(owner, kind):
                owner_object = self._informers.get(kind, f"{namespace}/{owner.name}")
                return None if owner_object is None else owner_object.spec
        return None


def _service_labels(pod: Pod, services: Iterable[Service]) -> dict[str, str]:
    labels: dict[str, str] = {}
    own = pod.metadata.labels.items()
    for service in services:
        required = service.spec.selector
        # A service without a selector selects no pod. Its endpoints are made by hand
        # or by another controller.
        if required and required.items() <= own:
            labels |= required
    return labels


def _selector_of(labels: dict[str, str], spec: _Spec | None) -> Selector:
    """Join the selectors of services with the selector of a controller."""
    if isinstance(spec, ReplicationControllerSpec):
        return selector_from_labels(labels | spec.selector)
    return _and(selector_from_labels(labels), None if spec is None else spec.selector)


def _is_of(owner: OwnerReference, kind: type[ApiObject]) -> bool:
    return owner.kind == kind.kind and owner.api_version == kind.api_version


def _and(selector: Selector, more: LabelSelector | None) -> Selector:
    if more is None:
        return selector
    try:
        return selector & compile_label_selector(more)
    except SelectorError:
        return selector  # as ``DefaultSelector``: an invalid one adds no requirement
