"""Objects of older versions are converted, or their removed fields explained.

Autoscalers as in ``pkg/apis/autoscaling/v1/conversion.go`` (Kubernetes v1.37).
"""

import json

import pytest

from quaymaster.manifests import ManifestErrors, load
from quaymaster.objects import HorizontalPodAutoscaler, to_wire

V1 = """
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 3
  maxReplicas: 9
  targetCPUUtilizationPercentage: 70
"""
ENCODED = {
    "metrics": [
        {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1"}},
        {"type": "Pods", "pods": {"metricName": "rps", "targetAverageValue": "9"}},
    ],
    "behavior": {"ScaleDown": {"SelectPolicy": "Disabled", "Policies": None}},
    "conditions": [{"type": "AbleToScale", "status": "True"}],
}


def read(text: str) -> HorizontalPodAutoscaler:
    loaded = load([text])
    assert loaded.notices == ()
    (scaler,) = loaded.of(HorizontalPodAutoscaler)
    return scaler


def test_a_target_of_cpu_becomes_a_metric() -> None:
    spec = to_wire(read(V1))["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (3, 9)
    target = {"type": "Utilization", "averageUtilization": 70}
    resource = {"name": "cpu", "target": target}
    assert list(spec["metrics"]) == [{"type": "Resource", "resource": resource}]


def test_annotations_hold_what_the_version_lacks() -> None:
    prefix = "autoscaling.alpha.kubernetes.io/"
    encoded = {prefix + key: json.dumps(value) for key, value in ENCODED.items()}
    annotations = json.dumps({**encoded, "own": "kept"})
    named = f"{{name: web, annotations: {annotations}}}"
    scaler = read(V1.replace("{name: web}", named, 1))
    types = [metric.type for metric in scaler.spec.metrics]
    assert types == ["Resource", "Pods", "Resource"]
    assert scaler.spec.behavior is not None
    assert scaler.spec.behavior.scale_down is not None
    assert scaler.spec.behavior.scale_down.select_policy == "Disabled"
    assert [condition.type for condition in scaler.status.conditions] == ["AbleToScale"]
    assert scaler.annotations == {"own": "kept"}


def test_a_list_may_name_the_version() -> None:
    document = V1.strip().replace("\n", "\n  ").partition("\n")[2]
    text = (
        "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscalerList\n"
        f"items:\n- apiVersion: autoscaling/v1\n{document}\n"
    )
    assert read(text).spec.min_replicas == 3


def test_fields_of_the_other_version_are_unknown() -> None:
    with pytest.raises(ManifestErrors, match=r"spec\.behavior: unknown field"):
        read(V1 + "  behavior: {}\n")
    with pytest.raises(ManifestErrors, match=r"spec\.maxReplicas: expected"):
        read(V1.replace("maxReplicas: 9", "maxReplicas: many"))


def test_the_removed_source_of_claims_is_explained() -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, source: {resourceClaimTemplateName: gpu}}]
"""
    found = r"resourceClaims\[0\]\.source: unknown field; Kubernetes 1\.31 removed it"
    with pytest.raises(ManifestErrors, match=found):
        load([text])
