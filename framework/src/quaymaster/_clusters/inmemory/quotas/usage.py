"""The usage of objects, as quotas count it.

Mirrors the evaluators of ``pkg/quota/v1/evaluator/core`` and the generic one for counts
of objects (Kubernetes v1.36). Node ports of services are not counted.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    ReplicationController,
    ResourceQuota,
    Service,
    SpecKey,
)
from quaymaster._api.objects.kinds import group_of, plural_of
from quaymaster._api.objects.pod_limits import pod_limit_list
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.resource_names import is_extended_resource
from quaymaster._api.objects.resource_sums import is_resize_infeasible
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._kits.volumes.claims import class_of_claim

__all__ = ["compute_usage", "is_counted", "resource_of", "usage_of"]

_SINGLE: Final = Quantity(1)
_NANO: Final = 10**9
_REQUESTS: Final = "requests."
_HUGE_PAGES: Final = "hugepages-"
_DEVICE_CLASS: Final = "deviceclass.resource.kubernetes.io/"
_BY_CLASS: Final = ".storageclass.storage.k8s.io/"
_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_OF_PODS: Final = frozenset(
    (
        "count/pods",
        "pods",
        *_COMPUTE,
        *(f"requests.{name}" for name in _COMPUTE),
        *(f"limits.{name}" for name in _COMPUTE),
    )
)
_OF_CLAIMS: Final = ("persistentvolumeclaims", "requests.storage")
# These kinds had quotas before ``count/`` existed, and keep their short names.
_ALIASED: Final = (ReplicationController, ResourceQuota, Service)


@cache
def resource_of(kind: type[ApiObject]) -> str:
    """Return the name of a kind's objects in the API, such as ``deployments.apps``."""
    plural, group = plural_of(kind), group_of(kind.api_version)
    return f"{plural}.{group}" if group else plural


def is_counted(name: str, kind: type[ApiObject]) -> bool:
    """Return whether objects of a kind may use what a quota limits by that name."""
    if kind is Pod:
        return (
            name in _OF_PODS
            or name.startswith((_HUGE_PAGES, _REQUESTS + _HUGE_PAGES))
            or _is_extended_request(name)
        )
    if name == f"count/{resource_of(kind)}":
        return True
    if kind is PersistentVolumeClaim:
        return name in _OF_CLAIMS or name.endswith(
            tuple(_BY_CLASS + each for each in _OF_CLAIMS)
        )
    if kind is Service and name == "services.loadbalancers":
        return True
    return kind in _ALIASED and name == resource_of(kind)


def usage_of(obj: ApiObject, now: float, kubernetes: Kubernetes) -> ResourceList:
    """Return the amounts that one object uses, by their names in quotas.

    Args:
        obj: The object.
        now: The time; pods that should have been removed by then are not counted.
        kubernetes: The Kubernetes version; since 1.37, resizes are counted differently.
    """
    if isinstance(obj, Pod):
        return _pod_usage(obj, now, kubernetes)
    if isinstance(obj, PersistentVolumeClaim):
        return _claim_usage(obj)
    resource = resource_of(type(obj))
    usage = {f"count/{resource}": _SINGLE}
    if isinstance(obj, _ALIASED):
        usage[resource] = _SINGLE
    if isinstance(obj, Service) and obj.spec.type == "LoadBalancer":
        usage["services.loadbalancers"] = _SINGLE
    return usage


def compute_usage(
    requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]
) -> ResourceList:
    """Return requests and limits of a pod or a container, by their names in quotas."""
    usage = {"pods": _SINGLE}
    for name in _COMPUTE:
        if name in requests:
            usage[name] = usage[_REQUESTS + name] = requests[name]
        if name in limits:
            usage[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith(_HUGE_PAGES):
            usage[name] = usage[_REQUESTS + name] = amount
        # Requests of device classes are counted like extended resources, which have no
        # limits of their own.
        elif is_extended_resource(name) or name.startswith(_DEVICE_CLASS):
            usage[_REQUESTS + name] = amount
    return usage


def _pod_usage(pod: Pod, now: float, kubernetes: Kubernetes) -> ResourceList:
    """Return the amounts that a pod uses; an ended pod counts only as an object."""
    # A pod that has ended takes room in etcd, but not on nodes.
    if pod.is_finished or _is_overdue(pod, now):
        return {"count/pods": _SINGLE}
    status = pod.status
    if (
        status.container_statuses
        or status.init_container_statuses
        or is_resize_infeasible(status)
    ):
        return _usage_by_status(pod, by_totals=kubernetes.has("resize-totals"))
    return _USAGE.of(pod)


def _usage_by_spec(spec: PodSpec) -> ResourceList:
    return _usage(Pod(spec=spec), use_status=False, by_totals=False)


def _usage_by_status(pod: Pod, *, by_totals: bool) -> ResourceList:
    """Count a pod during a resize; quotas ignore the status of the pod as a whole."""
    if pod.status.resources is not None:
        pod = replace(pod, status=replace(pod.status, resources=None))
    return _usage(pod, use_status=True, by_totals=by_totals)


_USAGE: Final = SpecKey(_usage_by_spec)


def _usage(pod: Pod, *, use_status: bool, by_totals: bool) -> ResourceList:
    requests = pod_request_list(pod, use_status=use_status, by_totals=by_totals)
    limits = pod_limit_list(pod, use_status=use_status, by_totals=by_totals)
    return {"count/pods": _SINGLE, **compute_usage(requests, limits)}


def _is_overdue(pod: Pod, now: float) -> bool:
    """Return whether a pod should have been removed by now, as on a lost node."""
    # ``QuotaV1Pod`` adds the grace period to a time that includes it already.
    deadline = pod.metadata.deletion_timestamp
    grace = pod.metadata.deletion_grace_period_seconds
    return deadline is not None and grace is not None and now > deadline + grace


def _claim_usage(claim: PersistentVolumeClaim) -> ResourceList:
    usage = {f"count/{resource_of(type(claim))}": _SINGLE, _OF_CLAIMS[0]: _SINGLE}
    storage = claim.spec.resources.requests.get("storage")
    if storage is not None:
        # The status of a quota must have whole bytes: ``pvcEvaluator.Usage``.
        whole = storage if not storage.nanos % _NANO else Quantity(storage.value)
        usage[_OF_CLAIMS[1]] = whole
    class_name = class_of_claim(claim)
    if class_name:
        usage |= {
            f"{class_name}{_BY_CLASS}{name}": usage[name]
            for name in _OF_CLAIMS
            if name in usage
        }
    return usage


def _is_extended_request(name: str) -> bool:
    if not name.startswith(_REQUESTS):
        return False
    # ``IsPrefixedNativeResource`` finds the prefix anywhere in the name.
    is_native = "/" not in name or "kubernetes.io/" in name
    return not is_native or name.startswith(_REQUESTS + _DEVICE_CLASS)
