"""Checks autoscalers.

Mirrors ``ValidateHorizontalPodAutoscaler`` (``pkg/apis/autoscaling/validation``,
Kubernetes v1.37), as far as the size of workloads depends on it.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import HorizontalPodAutoscaler
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.problems import Report

__all__ = ["autoscaler_admission"]

_METRICS: Final = ("Resource", "ContainerResource", "Pods", "Object", "External")
_FROM_ZERO: Final = frozenset(("Object", "External"))
_TARGET: Final = "spec.scaleTargetRef"


def autoscaler_admission(
    kubernetes: Kubernetes,
) -> Callable[[HorizontalPodAutoscaler, Report], HorizontalPodAutoscaler]:
    """Return a function that fills in and checks an autoscaler."""
    scales_to_zero = kubernetes.enabled("HPAScaleToZero")

    def admit(
        scaler: HorizontalPodAutoscaler, report: Report
    ) -> HorizontalPodAutoscaler:
        if scaler.spec.min_replicas is None:
            scaler = replace(scaler, spec=replace(scaler.spec, min_replicas=1))
        _check(scaler, report, least=0 if scales_to_zero else 1)
        return scaler

    return admit


def _check(scaler: HorizontalPodAutoscaler, report: Report, *, least: int) -> None:
    spec = scaler.spec
    for field, value in (
        ("kind", spec.scale_target_ref.kind),
        ("name", spec.scale_target_ref.name),
    ):
        is_name = bool(value) and not set("/%") & set(value)
        report.expect(is_name, f"{_TARGET}.{field}", "the name of a workload", value)
    replicas = 1 if spec.min_replicas is None else spec.min_replicas
    report.at_least(replicas, "spec.minReplicas", least)
    report.at_least(spec.max_replicas, "spec.maxReplicas", max(1, replicas))
    types = {metric.type for metric in spec.metrics}
    for number, metric in enumerate(spec.metrics):
        report.one_of(metric.type, _METRICS, f"spec.metrics[{number}].type")
    if not replicas and not types & _FROM_ZERO:
        report.add("spec.metrics", "expected an Object or External metric")
