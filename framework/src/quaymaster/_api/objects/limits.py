"""Limit ranges and resource quotas: the limits of a namespace.

Mirrors k8s.io/api v0.36, ``core/v1/types.go``.
"""

from typing import ClassVar

from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.quantity import Quantity

__all__ = [
    "LimitRange",
    "LimitRangeItem",
    "LimitRangeSpec",
    "ResourceQuota",
    "ResourceQuotaSpec",
    "ResourceQuotaStatus",
    "ScopeSelector",
    "ScopedResourceSelectorRequirement",
]


class LimitRangeItem(ApiValue, frozen=True, kw_only=True):
    """The bounds for objects of one type, and the defaults of containers.

    Attributes:
        type: ``Container``, ``Pod`` or ``PersistentVolumeClaim``.
        max: The maximum of each resource.
        min: The minimum of each resource.
        default: The limits of containers that have none.
        default_request: The requests of containers that have none.
        max_limit_request_ratio: How many times the request a limit may be.
    """

    type: str = ""
    max: dict[str, Quantity] = {}
    min: dict[str, Quantity] = {}
    default: dict[str, Quantity] = {}
    default_request: dict[str, Quantity] = {}
    max_limit_request_ratio: dict[str, Quantity] = {}


class LimitRangeSpec(ApiValue, frozen=True, kw_only=True):
    """The limits, at most one item for each type."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(ApiObject, frozen=True, kw_only=True):
    """Bounds and defaults for the requests of a namespace's pods and claims."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "LimitRange"

    spec: LimitRangeSpec = LimitRangeSpec()


class ScopedResourceSelectorRequirement(ApiValue, frozen=True, kw_only=True):
    """One condition on the objects that a quota counts.

    Attributes:
        scope_name: ``PriorityClass``, ``Terminating`` or another scope.
        operator: ``In``, ``NotIn``, ``Exists`` or ``DoesNotExist``.
    """

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(ApiValue, frozen=True, kw_only=True):
    """Conditions on the objects that a quota counts, all of which must hold."""

    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


class ResourceQuotaSpec(ApiValue, frozen=True, kw_only=True):
    """The limits of a quota, and the objects that count.

    Attributes:
        hard: The maximum of each resource, such as ``requests.cpu`` or ``count/pods``.
        scopes: The objects that count; all scopes must match.
    """

    hard: dict[str, Quantity] = {}
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(ApiValue, frozen=True, kw_only=True):
    """The limits that are in force, and how much is used."""

    hard: dict[str, Quantity] = {}
    used: dict[str, Quantity] = {}


class ResourceQuota(ApiObject, frozen=True, kw_only=True):
    """Limits how much all objects of a namespace use together."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "ResourceQuota"

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()
