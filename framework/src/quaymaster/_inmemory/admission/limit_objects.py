"""Fills in and checks runtime classes, limit ranges and quotas.

Mirrors ``pkg/apis/node/validation``, and ``ValidateLimitRange`` and
``ValidateResourceQuota`` in ``pkg/apis/core/validation`` (Kubernetes v1.36), as far as
what follows from them depends on it. Names of resources are not checked.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from msgspec.structs import replace

from quaymaster._inmemory.admission.limit_ranges import with_item_defaults
from quaymaster._inmemory.admission.pod_checks import check_toleration
from quaymaster._inmemory.admission.problems import Report
from quaymaster._inmemory.admission.resource_checks import check_amounts
from quaymaster._inmemory.admission.rounding import round_amounts
from quaymaster._objects import (
    LimitRange,
    LimitRangeItem,
    ResourceQuota,
    ResourceQuotaSpec,
    RuntimeClass,
)
from quaymaster._objects.quantity import Quantity

__all__ = [
    "default_limit_range",
    "examine_limit_range",
    "examine_quota",
    "examine_runtime_class",
]

_TYPES: Final = ("Container", "Pod", "PersistentVolumeClaim")
_ONE: Final = Quantity(1)
_OPPOSITES: Final = (
    frozenset(("BestEffort", "NotBestEffort")),
    frozenset(("Terminating", "NotTerminating")),
)
_PLAIN_SCOPES: Final = frozenset(
    (
        "BestEffort",
        "NotBestEffort",
        "Terminating",
        "NotTerminating",
        "CrossNamespacePodAffinity",
    )
)
_SCOPES: Final = _PLAIN_SCOPES | {"PriorityClass", "VolumeAttributesClass"}
_WITH_VALUES: Final = ("In", "NotIn")
_WITHOUT_VALUES: Final = ("Exists", "DoesNotExist")


def default_limit_range(limit_range: LimitRange) -> LimitRange:
    """A limit range with the defaults that follow from its bounds."""
    limits = tuple(
        with_item_defaults(_rounded(item)) for item in limit_range.spec.limits
    )
    return replace(limit_range, spec=replace(limit_range.spec, limits=limits))


def examine_limit_range(limit_range: LimitRange, report: Report) -> LimitRange:
    """Fill in and check a new limit range; each type may come once."""
    limit_range = default_limit_range(limit_range)
    items = [
        (f"spec.limits[{index}]", item)
        for index, item in enumerate(limit_range.spec.limits)
    ]
    report.unique(((f"{path}.type", item.type) for path, item in items), "type")
    for path, item in items:
        if "/" not in item.type:
            report.one_of(item.type, _TYPES, f"{path}.type")
        _check_item(item, path, report)
    return limit_range


def examine_runtime_class(found: RuntimeClass, report: Report) -> RuntimeClass:
    """Fill in and check a new runtime class."""
    report.expect(bool(found.handler), "handler", "a name", found.handler)
    if found.overhead is not None:
        amounts = round_amounts(found.overhead.pod_fixed)
        check_amounts(amounts, "overhead.podFixed", report)
        found = replace(found, overhead=replace(found.overhead, pod_fixed=amounts))
    if found.scheduling is not None:
        for index, toleration in enumerate(found.scheduling.tolerations):
            check_toleration(toleration, f"scheduling.tolerations[{index}]", report)
    return found


def examine_quota(quota: ResourceQuota, report: Report) -> ResourceQuota:
    """Fill in and check a new quota."""
    spec = replace(quota.spec, hard=round_amounts(quota.spec.hard))
    check_amounts(spec.hard, "spec.hard", report)
    _check_scopes(spec, report)
    return replace(quota, spec=spec)


def _rounded(item: LimitRangeItem) -> LimitRangeItem:
    return replace(
        item,
        max=round_amounts(item.max),
        min=round_amounts(item.min),
        default=round_amounts(item.default),
        default_request=round_amounts(item.default_request),
        max_limit_request_ratio=round_amounts(item.max_limit_request_ratio),
    )


def _check_item(item: LimitRangeItem, path: str, report: Report) -> None:
    """Check the order (min, defaultRequest, default, max), and what each type needs."""
    if item.type == "Pod":
        for field, amounts in (
            ("default", item.default),
            ("defaultRequest", item.default_request),
        ):
            if amounts:
                report.add(f"{path}.{field}", "expected none for the type Pod")
    if item.type == "PersistentVolumeClaim" and not (
        "storage" in item.min or "storage" in item.max
    ):
        report.add(path, "expected min or max for storage")
    for field, small, word, large in (
        ("min", item.min, "max", item.max),
        ("min", item.min, "defaultRequest", item.default_request),
        ("min", item.min, "default", item.default),
        ("defaultRequest", item.default_request, "max", item.max),
        ("defaultRequest", item.default_request, "default", item.default),
        ("default", item.default, "max", item.max),
    ):
        for name in small.keys() & large.keys():
            expected = f"at most {large[name]}, its {word}"
            is_right = small[name] <= large[name]
            report.expect(is_right, f"{path}.{field}[{name}]", expected, small[name])
    for name, ratio in item.max_limit_request_ratio.items():
        where = f"{path}.maxLimitRequestRatio[{name}]"
        report.expect(ratio >= _ONE, where, "at least 1", ratio)


def _check_scopes(spec: ResourceQuotaSpec, report: Report) -> None:
    selector = spec.scope_selector
    conditions = () if selector is None else selector.match_expressions
    in_selector = "spec.scopeSelector.matchExpressions"
    named: Iterator[tuple[str, str]] = chain(
        ((f"spec.scopes[{index}]", scope) for index, scope in enumerate(spec.scopes)),
        (
            (f"{in_selector}[{index}].scopeName", condition.scope_name)
            for index, condition in enumerate(conditions)
        ),
    )
    for path, scope in named:
        report.one_of(scope, tuple(sorted(_SCOPES)), path)
    for path, scopes in (
        ("spec.scopes", set(spec.scopes)),
        (in_selector, {condition.scope_name for condition in conditions}),
    ):
        for pair in _OPPOSITES:
            if pair <= scopes:
                report.add(path, f"expected one of {' and '.join(sorted(pair))}")
    for index, condition in enumerate(conditions):
        path, operator = f"{in_selector}[{index}]", condition.operator
        if condition.scope_name in _PLAIN_SCOPES:
            report.one_of(operator, ("Exists",), f"{path}.operator")
        report.one_of(operator, (*_WITH_VALUES, *_WITHOUT_VALUES), f"{path}.operator")
        if operator in _WITH_VALUES and not condition.values:
            report.add(f"{path}.values", f"expected at least one value for {operator}")
        elif operator in _WITHOUT_VALUES and condition.values:
            report.add(f"{path}.values", f"expected no values for {operator}")
