"""Defaults of autoscalers.

Mirrors ``pkg/apis/autoscaling/v2/defaults.go`` (Kubernetes v1.37).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    HorizontalPodAutoscalerBehavior,
    HorizontalPodAutoscalerSpec,
    HPAScalingPolicy,
    HPAScalingRules,
    MetricSpec,
    MetricTarget,
    ResourceMetricSource,
)

__all__ = ["default_autoscaler_spec"]

_METRICS: Final = (
    MetricSpec(
        type="Resource",
        resource=ResourceMetricSource(
            name="cpu",
            target=MetricTarget(type="Utilization", average_utilization=80),
        ),
    ),
)
# The larger of the two wins (``Max``): a small workload grows by four pods in 15 s, a
# large one doubles.
_ALL_PODS: Final = HPAScalingPolicy(type="Percent", value=100, period_seconds=15)
_FOUR_PODS: Final = HPAScalingPolicy(type="Pods", value=4, period_seconds=15)
_SCALE_UP: Final = HPAScalingRules(
    stabilization_window_seconds=0,
    select_policy="Max",
    policies=(_FOUR_PODS, _ALL_PODS),
)
# The window of scaling down is an option of the controller.
_SCALE_DOWN: Final = HPAScalingRules(select_policy="Max", policies=(_ALL_PODS,))


def default_autoscaler_spec(
    spec: HorizontalPodAutoscalerSpec,
) -> HorizontalPodAutoscalerSpec:
    """Return the spec with the least size, a metric, and rules for its behavior."""
    behavior = spec.behavior
    # A spec without behavior stays without: the controller then uses its own flags, and
    # only a behavior that is set gets the missing half filled in.
    if behavior is not None:
        behavior = HorizontalPodAutoscalerBehavior(
            scale_up=_rules(behavior.scale_up, _SCALE_UP),
            scale_down=_rules(behavior.scale_down, _SCALE_DOWN),
        )
    return replace(
        spec,
        min_replicas=1 if spec.min_replicas is None else spec.min_replicas,
        metrics=spec.metrics or _METRICS,
        behavior=behavior,
    )


# Field by field, not as a whole: a user who sets only the window keeps the default
# policies (``copyHPAScalingRules``).
def _rules(rules: HPAScalingRules | None, default: HPAScalingRules) -> HPAScalingRules:
    if rules is None:
        return default
    fields = {name: getattr(rules, name) for name in HPAScalingRules.__struct_fields__}
    return replace(
        default, **{name: value for name, value in fields.items() if value is not None}
    )
