"""Fills in and checks runtime classes, limit ranges and quotas.

Mirrors ``pkg/apis/node/validation``, and ``ValidateLimitRange`` in
``pkg/apis/core/validation`` (Kubernetes v1.36).
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    LimitRange,
    LimitRangeItem,
    ResourceQuota,
    RuntimeClass,
    Toleration,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.resource_names import is_overcommit_allowed
from quaymaster._api.objects.syntax import LABEL_KEY
from quaymaster._api.objects.tolerations import TOLERATION_COMPARISONS
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.limit_ranges import default_limit_range
from quaymaster._clusters.inmemory.admission.metadata_checks import check_labels
from quaymaster._clusters.inmemory.admission.quota_checks import (
    check_quota,
    is_resource,
)
from quaymaster._clusters.inmemory.admission.resource_checks import (
    check_overhead,
    is_for_containers,
)
from quaymaster._clusters.inmemory.admission.rounding import round_amounts
from quaymaster._clusters.inmemory.admission.toleration_checks import check_tolerations

__all__ = [
    "examine_limit_range",
    "examine_quota",
    "examine_runtime_class",
]

_TYPES: Final = ("Container", "Pod", "PersistentVolumeClaim")
_SINGLE: Final = Quantity(1)
_NANO: Final = 10**9
_A_RESOURCE: Final = (
    "cpu, memory or another resource, such as hugepages-2Mi or nvidia.com/gpu"
)


def examine_limit_range(limit_range: LimitRange, report: Report) -> LimitRange:
    """Fill in and check a new limit range; each type may come once."""
    limit_range = default_limit_range(limit_range)
    items = [
        (f"spec.limits[{index}]", item)
        for index, item in enumerate(limit_range.spec.limits)
    ]
    report.unique(((f"{path}.type", item.type) for path, item in items), "type")
    for path, item in items:
        # A qualified name is a type of another plugin, which LimitRanger ignores.
        if "/" in item.type:
            report.formed(item.type, LABEL_KEY, f"{path}.type")
        else:
            report.one_of(item.type, _TYPES, f"{path}.type")
        _check_item(item, path, report)
    return limit_range


def examine_runtime_class(
    runtime_class: RuntimeClass, report: Report, *, kubernetes: Kubernetes
) -> RuntimeClass:
    """Fill in and check a new runtime class."""
    report.expect(
        bool(runtime_class.handler), "handler", "a name", runtime_class.handler
    )
    if runtime_class.overhead is not None:
        amounts = round_amounts(runtime_class.overhead.pod_fixed)
        check_overhead(amounts, "overhead", report)  # the server's path: .limits
        runtime_class = replace(
            runtime_class, overhead=replace(runtime_class.overhead, pod_fixed=amounts)
        )
    if runtime_class.scheduling is not None:
        allows = kubernetes.enabled(TOLERATION_COMPARISONS)
        tolerations = runtime_class.scheduling.tolerations
        check_tolerations(tolerations, "scheduling.tolerations", report, allows)
        _check_repeated(tolerations, report)
        selector = runtime_class.scheduling.node_selector
        check_labels(selector, "scheduling.nodeSelector", report)
    return runtime_class


def _check_repeated(tolerations: Iterable[Toleration], report: Report) -> None:
    """Reject equal tolerations, whatever their times (``validateTolerations``)."""
    seen = set()
    for index, toleration in enumerate(tolerations):
        fields = replace(toleration, toleration_seconds=None)
        path = f"scheduling.tolerations[{index}]"
        report.expect(fields not in seen, path, "no repetition", toleration.key)
        seen.add(fields)


def examine_quota(quota: ResourceQuota, report: Report) -> ResourceQuota:
    """Fill in and check a new quota."""
    spec = replace(quota.spec, hard=round_amounts(quota.spec.hard))
    check_quota(spec, report)
    return replace(quota, spec=spec)


def _check_item(item: LimitRangeItem, path: str, report: Report) -> None:
    """Check names, the order (min, defaultRequest, default, max), and each type's."""
    is_for_pods = item.type in ("Pod", "Container")
    for field, amounts in (
        ("max", item.max),
        ("min", item.min),
        ("default", item.default),
        ("defaultRequest", item.default_request),
        ("maxLimitRequestRatio", item.max_limit_request_ratio),
    ):
        # A pod as a whole has no defaults: nothing decides which container would get
        # them.
        if item.type == "Pod" and field.startswith("default"):
            if amounts:
                report.add(f"{path}.{field}", "expected none for the type Pod")
            continue
        for name in amounts:
            is_right = is_for_containers(name) if is_for_pods else is_resource(name)
            where = f"{path}.{field}[{name}]"
            report.expect(is_right, where, _A_RESOURCE, name)
    if item.type == "PersistentVolumeClaim" and not (
        "storage" in item.min or "storage" in item.max
    ):
        report.add(f"{path}.limits", "expected min or max for storage")
    _check_order(item, path, report)
    _check_ratios(item, path, report)


def _check_order(item: LimitRangeItem, path: str, report: Report) -> None:
    default, request = (
        ("default", item.default),
        ("defaultRequest", item.default_request),
    )
    least, most = ("min", item.min), ("max", item.max)
    for (small, low), (large, high), field in (
        (least, most, "min"),
        (least, request, "defaultRequest"),
        (least, default, "default"),
        (request, most, "defaultRequest"),
        (request, default, "defaultRequest"),
        (default, most, "default"),
    ):
        for name in low.keys() & high.keys():
            if low[name] > high[name]:
                expected = f"{small} up to {large}, {high[name]}"
                report.expect(False, f"{path}.{field}[{name}]", expected, low[name])
    for name in item.default.keys() & item.default_request.keys():
        limit, default_request = item.default[name], item.default_request[name]
        # GPUs and huge pages cannot be overcommitted, so their limit and request are
        # one number.
        if not is_overcommit_allowed(name) and limit != default_request:
            where = f"{path}.defaultRequest[{name}]"
            report.expect(False, where, f"the default, {limit}", default_request)


def _check_ratios(item: LimitRangeItem, path: str, report: Report) -> None:
    for name, ratio in item.max_limit_request_ratio.items():
        where = f"{path}.maxLimitRequestRatio[{name}]"
        report.expect(ratio >= _SINGLE, where, "at least 1", ratio)
        least, most = item.min.get(name), item.max.get(name)
        # Equal to ``most / least < ratio``, without a division. A minimum of 0 sets no
        # bound.
        if (
            least
            and most is not None
            and ratio.nanos * least.nanos > most.nanos * _NANO
        ):
            report.expect(False, where, "at most max through min", ratio)
