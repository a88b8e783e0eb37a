"""Which pods belong together, for a pod that does not say so itself.

Mirrors ``DefaultSelector`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/helper/spread.go``).
"""

from typing import Final

from quaymaster import Pod
from quaymaster.handle import Informers
from quaymaster.objects import (
    ApiObject,
    LabelSelector,
    OwnerReference,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    TopologySpreadConstraint,
)
from quaymaster.selectors import (
    Selector,
    SelectorError,
    compile_label_selector,
    selector_from_labels,
)

__all__ = ["SYSTEM_CONSTRAINTS", "default_selector"]

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


def default_selector(pod: Pod, informers: Informers) -> Selector:
    """The selector of the services that lead to a pod, and of its controller."""
    labels = _service_labels(pod, informers)
    owner = pod.metadata.controller
    if owner is None:
        return selector_from_labels(labels)
    key = f"{pod.metadata.namespace}/{owner.name}"
    if _is_of(owner, ReplicationController):
        controller = informers.get(ReplicationController, key)
        if controller is not None:
            labels |= controller.spec.selector
    return _and(selector_from_labels(labels), _set_selector(owner, key, informers))


def _service_labels(pod: Pod, informers: Informers) -> dict[str, str]:
    labels: dict[str, str] = {}
    own = pod.metadata.labels.items()
    for service in informers.list(Service, pod.metadata.namespace):
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
