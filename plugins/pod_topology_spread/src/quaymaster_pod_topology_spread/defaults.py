"""Default constraints: the pods that belong together, by services and controllers.

Mirrors ``DefaultSelector`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/helper/spread.go``).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster import ApiObject, Informers, Pod
from quaymaster.columns import Revised
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    EVERYTHING,
    LabelSelector,
    OwnerReference,
    ReplicaSet,
    ReplicationController,
    Selector,
    Service,
    StatefulSet,
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

_CONTROLLERS: Final = (ReplicationController, ReplicaSet, StatefulSet)


class DefaultSelectors:
    """Finds the services that lead to a pod, and the controller of it.

    Args:
        informers: Where services and controllers come from.
    """

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._changes = informers.changes(Service)
        self._revision = -1
        self._services: dict[str, list[Service]] = {}

    def of(self, pod: Pod) -> Selector:
        """Return the selector of a pod's services and of its controller."""
        owner = pod.metadata.controller
        services = self._in_namespace(pod.metadata.namespace)
        if owner is None and not services:
            return EVERYTHING
        labels = _service_labels(pod, services)
        if owner is None:
            return selector_from_labels(labels)
        informers = self._informers
        key = f"{pod.metadata.namespace}/{owner.name}"
        if _is_of(owner, ReplicationController):
            controller = informers.get(ReplicationController, key)
            if controller is not None:
                labels |= controller.spec.selector
        return _and(selector_from_labels(labels), _set_selector(owner, key, informers))

    def revised(self, pod: Pod) -> Sequence[Revised]:
        """Return what changes before the selector of a pod, or of its like, does."""
        owner = pod.metadata.controller
        if owner is None:
            return (self._changes,)
        kinds = [kind for kind in _CONTROLLERS if _is_of(owner, kind)]
        return (self._changes, *map(self._informers.changes, kinds))

    def _in_namespace(self, namespace: str) -> Sequence[Service]:
        revision = self._changes.revision
        if revision != self._revision:
            self._revision = revision
            self._services = {}
            for service in self._informers.list(Service):
                self._services.setdefault(service.namespace, []).append(service)
        return self._services.get(namespace, ())


def _service_labels(pod: Pod, services: Iterable[Service]) -> dict[str, str]:
    labels: dict[str, str] = {}
    own = pod.metadata.labels.items()
    for service in services:
        wanted = service.spec.selector
        if wanted and wanted.items() <= own:
            labels |= wanted
    return labels


def _set_selector(
    owner: OwnerReference, key: str, informers: Informers
) -> LabelSelector | None:
    found: ReplicaSet | StatefulSet | None = None
    if _is_of(owner, ReplicaSet):
        found = informers.get(ReplicaSet, key)
    elif _is_of(owner, StatefulSet):
        found = informers.get(StatefulSet, key)
    return None if found is None else found.spec.selector


def _is_of(owner: OwnerReference, kind: type[ApiObject]) -> bool:
    return owner.kind == kind.kind and owner.api_version == kind.api_version


def _and(selector: Selector, more: LabelSelector | None) -> Selector:
    if more is None:
        return selector
    try:
        return selector & compile_label_selector(more)
    except SelectorError:
        return selector  # as upstream: a broken selector narrows nothing
