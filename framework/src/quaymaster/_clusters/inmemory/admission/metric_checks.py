"""Checks the metrics of autoscalers.

Mirrors ``validateMetrics`` and what it calls (Kubernetes v1.37,
``pkg/apis/autoscaling/validation/validation.go``).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from quaymaster._api.objects import (
    ContainerResourceMetricSource,
    CrossVersionObjectReference,
    ExternalMetricSource,
    MetricIdentifier,
    MetricSpec,
    MetricTarget,
    ObjectMetricSource,
    PodsMetricSource,
    ResourceMetricSource,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import DNS_LABEL, PATH_SEGMENT
from quaymaster._clusters.inmemory.admission.resource_checks import is_for_containers

__all__ = ["check_metrics", "check_reference"]

Check = Callable[[Any, str, Report], None]
"""Checks one source; the table below has one for each type."""

_ZERO: Final = Quantity(0)
_TARGETS: Final = ("Utilization", "Value", "AverageValue")
_FROM_ZERO: Final = frozenset(("Object", "External"))
_EITHER_VALUE: Final = "expected a value or an averageValue, got none"
_RESOURCE: Final = (
    "cpu, memory or another resource of containers, such as nvidia.com/gpu"
)


def check_metrics(
    metrics: tuple[MetricSpec, ...], min_replicas: int | None, path: str, report: Report
) -> None:
    """Check each metric; scaling to zero needs one that does not come from pods."""
    for index, metric in enumerate(metrics):
        _check_metric(metric, f"{path}[{index}]", report)
    # Without pods there are no metrics of pods, so nothing could scale the workload up
    # again.
    if min_replicas == 0 and not _FROM_ZERO & {metric.type for metric in metrics}:
        report.add(path, "expected an Object or External metric")


def check_reference(
    reference: CrossVersionObjectReference,
    path: str,
    report: Report,
    *,
    needs_group: bool,
) -> None:
    """Check the kind, the name and the API version of a reference."""
    report.named(reference.kind, PATH_SEGMENT, f"{path}.kind")
    report.named(reference.name, PATH_SEGMENT, f"{path}.name")
    version, where = reference.api_version, f"{path}.apiVersion"
    # As upstream's ParseGroupVersion: an empty version and "/" have no parts.
    if version.count("/") > 1:
        report.expect(False, where, "a group and a version such as apps/v1", version)
    elif needs_group and not version.rpartition("/")[0]:
        report.expect(False, where, "a version with a group, such as apps/v1", version)


def _check_metric(metric: MetricSpec, path: str, report: Report) -> None:
    """Check the type, and the first source; the others are too many."""
    report.one_of(metric.type, _TYPES, f"{path}.type")
    sources = [name for name in _CHECKS if getattr(metric, _FIELDS[name]) is not None]
    # Upstream checks each source only if none came before (``typesPresent``), so the
    # second is not examined.
    if sources:
        first = sources[0]
        _CHECKS[first](getattr(metric, _FIELDS[first]), f"{path}.{first}", report)
    own = metric.type[:1].lower() + metric.type[1:] if metric.type in _TYPES else ""
    if own and own not in sources:
        report.add(f"{path}.{own}", f"expected the source of a {metric.type} metric")
    if len(sources) > 1:
        for name in sources:
            if name != own:
                message = f"expected only the source of a {metric.type} metric"
                report.add(f"{path}.{name}", message)


def _check_object(source: ObjectMetricSource, path: str, report: Report) -> None:
    where = f"{path}.describedObject"
    check_reference(source.described_object, where, report, needs_group=False)
    _check_identifier(source.metric, f"{path}.metric", report)
    target = source.target
    _check_target(target, f"{path}.target", report)
    if target.value is None and target.average_value is None:
        report.add(f"{path}.target.averageValue", _EITHER_VALUE)


def _check_external(source: ExternalMetricSource, path: str, report: Report) -> None:
    _check_identifier(source.metric, f"{path}.metric", report)
    target = source.target
    _check_target(target, f"{path}.target", report)
    if target.value is None and target.average_value is None:
        report.add(f"{path}.target.averageValue", _EITHER_VALUE)
    if target.value is not None and target.average_value is not None:
        report.add(f"{path}.target.value", "expected none beside averageValue")


def _check_pods(source: PodsMetricSource, path: str, report: Report) -> None:
    _check_identifier(source.metric, f"{path}.metric", report)
    _check_target(source.target, f"{path}.target", report)
    if source.target.average_value is None:
        report.add(f"{path}.target.averageValue", "expected a value, got none")


def _check_resource(source: ResourceMetricSource, path: str, report: Report) -> None:
    if not source.name:
        report.add(f"{path}.name", "expected a resource, got none")
    _check_resource_target(source.target, f"{path}.target", report)


def _check_container_resource(
    source: ContainerResourceMetricSource, path: str, report: Report
) -> None:
    if source.name:
        is_resource = is_for_containers(source.name)
        report.expect(is_resource, f"{path}.name", _RESOURCE, source.name)
    else:
        report.add(f"{path}.name", "expected a resource, got none")
    report.named(source.container, DNS_LABEL, f"{path}.container")
    _check_resource_target(source.target, f"{path}.target", report)


def _check_resource_target(target: MetricTarget, path: str, report: Report) -> None:
    _check_target(target, path, report)
    if target.average_utilization is None:
        if target.average_value is None:
            message = "expected it or an averageValue, got none"
            report.add(f"{path}.averageUtilization", message)
    elif target.average_value is not None:
        report.add(f"{path}.averageValue", "expected none beside averageUtilization")


def _check_target(target: MetricTarget, path: str, report: Report) -> None:
    report.one_of(target.type, _TARGETS, f"{path}.type")
    for field, amount in (
        ("value", target.value),
        ("averageValue", target.average_value),
    ):
        if amount is not None:
            is_positive = amount > _ZERO
            report.expect(is_positive, f"{path}.{field}", "an amount above 0", amount)
    report.at_least(target.average_utilization, f"{path}.averageUtilization", 1)


def _check_identifier(metric: MetricIdentifier, path: str, report: Report) -> None:
    report.named(metric.name, PATH_SEGMENT, f"{path}.name")


_CHECKS: Final[Mapping[str, Check]] = {
    "object": _check_object,
    "external": _check_external,
    "pods": _check_pods,
    "resource": _check_resource,
    "containerResource": _check_container_resource,
}
"""The sources by the names of their fields, in upstream's order."""

_FIELDS: Final[Mapping[str, str]] = {
    name: "container_resource" if name == "containerResource" else name
    for name in _CHECKS
}
_TYPES: Final = tuple(f"{name[:1].upper()}{name[1:]}" for name in _CHECKS)
