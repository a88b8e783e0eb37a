"""Queueing hints for pods that NodeResourcesFit rejected.

Mirrors the queueing hints in ``fit.go`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources``).
"""

from typing import Final

from quaymaster import Node, NodeInfo, Pod, QueueingHint
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    DeviceClass,
    Resources,
    node_allocatable,
    pod_requests,
    pod_usage,
)
from quaymaster_node_resources_fit.shortage import IsServed, find_shortages

__all__ = ["after_device_class_change", "after_node_change", "after_pod_change"]

_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


def after_pod_change(
    pod: Pod, old: Pod, new: Pod | None, kubernetes: Kubernetes
) -> QueueingHint:
    """Queue the pod if it has changed, or if another pod releases what it needs.

    Args:
        pod: The rejected pod.
        old: The other pod before.
        new: The other pod after, or None if it was deleted.
        kubernetes: The version, which decides what a pod uses during a resize.
    """
    if new is None:
        return _hint(bool(old.node_name or old.status.nominated_node_name))
    # The event is about the rejected pod itself, which now requests less.
    if new.uid == pod.uid:
        return QueueingHint.QUEUE
    if not new.node_name:
        return QueueingHint.SKIP
    before, after, requests = (
        pod_usage(version, kubernetes).requests for version in (old, new, pod)
    )
    return _hint(
        any(before.get(name) > after.get(name) for name in _requested(requests))
    )


def after_node_change(
    pod: Pod, old: Node | None, new: Node, is_served: IsServed
) -> QueueingHint:
    """Queue the pod if a new or larger node would fit it when empty.

    As in upstream, this includes the resources that the filter ignores.

    Args:
        pod: The rejected pod.
        old: The node before, or None if it was added.
        new: The node after.
        is_served: Whether devices serve a resource that the node does not offer.
    """
    requests = pod_requests(pod)
    # Compared with the empty node: the pods that run there are not part of the event,
    # and a later deletion is an event of its own.
    if find_shortages(requests, NodeInfo(new), lambda _name: False, is_served):
        return QueueingHint.SKIP
    if old is None:
        return QueueingHint.QUEUE
    offered = node_allocatable(new)
    return _hint(
        _has_grown(node_allocatable(old), offered, requests)
        or any(
            amount and offered.scalars.get(name, 0) <= 0 and is_served(name)
            for name, amount in requests.scalars.items()
        )
    )


def after_device_class_change(
    pod: Pod, old: DeviceClass | None, new: DeviceClass
) -> QueueingHint:
    """Queue the pod if a device class now serves a resource that it requests.

    Args:
        pod: The rejected pod.
        old: The class before, or None if it was added.
        new: The class after.
    """
    names = {new.spec.extended_resource_name}
    if old is None:
        names.add(f"{_CLASS_PREFIX}{new.name}")
    else:
        names.discard(old.spec.extended_resource_name)
    return _hint(not names.isdisjoint(pod_requests(pod).scalars))


def _has_grown(old: Resources, new: Resources, requests: Resources) -> bool:
    if new.allowed_pods > old.allowed_pods:
        return True
    return any(new.get(name) > old.get(name) for name in _requested(requests))


def _requested(requests: Resources) -> list[str]:
    names = ("cpu", "memory", "ephemeral-storage", *requests.scalars)
    return [name for name in names if requests.get(name)]


def _hint(may_help: bool) -> QueueingHint:
    return QueueingHint.QUEUE if may_help else QueueingHint.SKIP
