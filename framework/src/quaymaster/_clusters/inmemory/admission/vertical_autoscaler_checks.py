"""Checks VerticalPodAutoscalers, as their webhook does.

Mirrors ``validateVPA`` of ``resource/vpa/validation.go`` in the admission controller of
vertical-pod-autoscaler v1.7 (kubernetes/autoscaler). Features that a flag allows are
not rejected.
"""

from typing import Final

from quaymaster._api.objects import CrossVersionObjectReference
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.vertical_autoscaling import (
    ContainerResourcePolicy,
    PodResourcePolicy,
    VerticalPodAutoscaler,
)

__all__ = ["check_vertical_autoscaler"]

_MODES: Final = ("Off", "Initial", "Recreate", "InPlaceOrRecreate", "InPlace", "Auto")
_VALUES: Final = ("RequestsAndLimits", "RequestsOnly")
_RESOURCES: Final = ("cpu", "memory")


def check_vertical_autoscaler(scaler: VerticalPodAutoscaler, report: Report) -> None:
    """Report what is wrong with an autoscaler."""
    spec = scaler.spec
    target = spec.target_ref or CrossVersionObjectReference()
    for field, value in (("kind", target.kind), ("name", target.name)):
        if not value:
            report.add(f"spec.targetRef.{field}", f"expected the {field} of a workload")
    if (policy := spec.update_policy) is not None:
        mode = policy.update_mode or ""
        report.one_of(mode, _MODES, "spec.updatePolicy.updateMode")
        report.at_least(policy.min_replicas, "spec.updatePolicy.minReplicas", 1)
    policies = spec.resource_policy or PodResourcePolicy()
    for number, entry in enumerate(policies.container_policies):
        path = f"spec.resourcePolicy.containerPolicies[{number}]"
        _check_policy(entry, path, report)


def _check_policy(policy: ContainerResourcePolicy, path: str, report: Report) -> None:
    if not policy.container_name:
        report.add(f"{path}.containerName", "expected the name of a container, or *")
    if policy.mode is not None:
        report.one_of(policy.mode, ("Auto", "Off"), f"{path}.mode")
    if policy.controlled_values is not None:
        values = f"{path}.controlledValues"
        report.one_of(policy.controlled_values, _VALUES, values)
        if policy.mode == "Off" and policy.controlled_values == _VALUES[0]:
            report.add(values, "expected no such field, as the mode is Off")
    for number, name in enumerate(policy.controlled_resources or ()):
        report.one_of(name, _RESOURCES, f"{path}.controlledResources[{number}]")
    for name, least in policy.min_allowed.items():
        most = policy.max_allowed.get(name)
        if most is not None and most < least:
            expected = f"at least {least}, as in minAllowed"
            report.expect(False, f"{path}.maxAllowed[{name}]", expected, most)
