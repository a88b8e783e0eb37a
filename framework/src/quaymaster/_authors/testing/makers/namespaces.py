"""Makers of namespaces and their limits."""

from collections.abc import Iterable, Mapping

from quaymaster._api.objects import (
    LimitRange,
    LimitRangeItem,
    LimitRangeSpec,
    Namespace,
    ResourceQuota,
    ResourceQuotaSpec,
    ResourceQuotaStatus,
)
from quaymaster._authors.testing.makers.metadata import make_metadata
from quaymaster._authors.testing.shorthand import Amounts, to_resource_list

__all__ = ["make_limit_range", "make_namespace", "make_resource_quota"]


def make_namespace(
    *, name: str = "default", labels: Mapping[str, str] | None = None
) -> Namespace:
    """Make a namespace, with the name label that the API server would set.

    Args:
        name: Its name.
        labels: More labels, which namespace selectors match.
    """
    own = {"kubernetes.io/metadata.name": name}
    metadata = make_metadata(Namespace, name=name, labels={**own, **(labels or {})})
    return Namespace(metadata=metadata)


def make_limit_range(
    *,
    name: str = "limits",
    namespace: str = "default",
    of: str = "Container",
    min: Amounts | None = None,  # noqa: A002 - the API's name
    max: Amounts | None = None,  # noqa: A002 - the API's name
    default: Amounts | None = None,
    default_request: Amounts | None = None,
    max_limit_request_ratio: Amounts | None = None,
) -> LimitRange:
    """Make a limit range for objects of one type.

    Args:
        name: Its name.
        namespace: The namespace that it applies to.
        of: The type: ``Container``, ``Pod`` or ``PersistentVolumeClaim``.
        min: The minimum of each resource.
        max: The maximum of each resource.
        default: The limits of containers that have none.
        default_request: The requests of containers that have none.
        max_limit_request_ratio: How many times the request a limit may be.
    """
    item = LimitRangeItem(
        type=of,
        min=to_resource_list(min),
        max=to_resource_list(max),
        default=to_resource_list(default),
        default_request=to_resource_list(default_request),
        max_limit_request_ratio=to_resource_list(max_limit_request_ratio),
    )
    return LimitRange(
        metadata=make_metadata(LimitRange, name=name, namespace=namespace),
        spec=LimitRangeSpec(limits=(item,)),
    )


def make_resource_quota(
    *,
    name: str = "quota",
    namespace: str = "default",
    hard: Amounts | None = None,
    used: Amounts | None = None,
    scopes: Iterable[str] = (),
) -> ResourceQuota:
    """Make a resource quota, which is in force.

    Args:
        name: Its name.
        namespace: The namespace that it applies to.
        hard: The maximum of each resource, such as ``{"requests.cpu": "4", "pods":
        10}``.
        used: The usage of these resources.
        scopes: The objects that count, such as ``NotBestEffort``; all scopes must
        match.
    """
    limits = to_resource_list(hard)
    return ResourceQuota(
        metadata=make_metadata(ResourceQuota, name=name, namespace=namespace),
        spec=ResourceQuotaSpec(hard=limits, scopes=tuple(scopes)),
        status=ResourceQuotaStatus(hard=limits, used=to_resource_list(used)),
    )
