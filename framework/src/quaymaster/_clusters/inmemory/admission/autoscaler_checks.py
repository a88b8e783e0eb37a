"""Fills in and checks autoscalers.

Mirrors ``ValidateHorizontalPodAutoscaler`` (``pkg/apis/autoscaling/validation``,
Kubernetes v1.37).
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    HorizontalPodAutoscaler,
    HPAScalingPolicy,
    HPAScalingRules,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.report import Report
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.autoscaler_defaults import (
    default_autoscaler_spec,
)
from quaymaster._clusters.inmemory.admission.metric_checks import (
    check_metrics,
    check_reference,
)

__all__ = ["autoscaler_admission"]

_SELECT_POLICIES: Final = ("Disabled", "Max", "Min")
_POLICIES: Final = ("Percent", "Pods")
_MAX_PERIOD: Final = 1800
_MAX_WINDOW: Final = 3600
_CORE_KIND: Final = "ReplicationController"


def autoscaler_admission(
    kubernetes: Kubernetes,
) -> Callable[[HorizontalPodAutoscaler, Report], HorizontalPodAutoscaler]:
    """Return a function that fills in and checks an autoscaler."""
    scales_to_zero = kubernetes.enabled("HPAScaleToZero")

    def admit(
        scaler: HorizontalPodAutoscaler, report: Report
    ) -> HorizontalPodAutoscaler:
        # Defaults first: without them, a behavior without policies would break the rule
        # that each direction has at least one.
        scaler = replace(scaler, spec=default_autoscaler_spec(scaler.spec))
        _check(scaler, report, least=0 if scales_to_zero else 1)
        return scaler

    return admit


def _check(scaler: HorizontalPodAutoscaler, report: Report, *, least: int) -> None:
    spec, target = scaler.spec, scaler.spec.scale_target_ref
    replicas = 1 if spec.min_replicas is None else spec.min_replicas
    report.at_least(replicas, "spec.minReplicas", least)
    # Both rules in one: ``validateHorizontalPodAutoscalerSpec`` wants at least 1, and
    # not less than the minimum.
    report.at_least(spec.max_replicas, "spec.maxReplicas", max(1, replicas))
    # Older servers stored references without a group.
    needs_group = target.kind != _CORE_KIND and not is_already_admitted(scaler)
    check_reference(target, "spec.scaleTargetRef", report, needs_group=needs_group)
    check_metrics(spec.metrics, replicas, "spec.metrics", report)
    if spec.behavior is not None:
        path = "spec.behavior"
        _check_rules(spec.behavior.scale_up, f"{path}.scaleUp", report)
        _check_rules(spec.behavior.scale_down, f"{path}.scaleDown", report)


def _check_rules(rules: HPAScalingRules | None, path: str, report: Report) -> None:
    if rules is None:
        return
    window = rules.stabilization_window_seconds
    report.in_range(window, f"{path}.stabilizationWindowSeconds", 0, _MAX_WINDOW)
    if rules.select_policy is not None:
        where = f"{path}.selectPolicy"
        report.one_of(rules.select_policy, _SELECT_POLICIES, where)
    if not rules.policies:
        report.add(f"{path}.policies", "expected at least one policy, got none")
    for index, policy in enumerate(rules.policies or ()):
        _check_policy(policy, f"{path}.policies[{index}]", report)
    # None and 0 differ: without a tolerance, the controller's own option of 10 % holds.
    if rules.tolerance is not None:
        is_amount = rules.tolerance >= Quantity(0)
        expected = "an amount of at least 0"
        report.expect(is_amount, f"{path}.tolerance", expected, rules.tolerance)


def _check_policy(policy: HPAScalingPolicy, path: str, report: Report) -> None:
    report.one_of(policy.type, _POLICIES, f"{path}.type")
    report.at_least(policy.value, f"{path}.value", 1)
    report.in_range(policy.period_seconds, f"{path}.periodSeconds", 1, _MAX_PERIOD)
