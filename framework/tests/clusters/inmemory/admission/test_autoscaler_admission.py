"""Which HorizontalPodAutoscalers an API server rejects, and what it fills in.

Cases follow ``TestValidateHorizontalPodAutoscaler`` and its like (Kubernetes v1.37,
``pkg/apis/autoscaling/validation/validation_test.go``).
"""

from typing import Any

import pytest

from quaymaster.objects import HorizontalPodAutoscaler, from_wire
from tests.kit.admission import rejected_paths
from tests.kit.clusters import make_cluster

Tree = dict[str, Any]

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
AVERAGE = {"type": "AverageValue", "averageValue": "5"}
METRIC = "spec.metrics[0]"


def scaler(**spec: object) -> Tree:
    return {"spec": {"maxReplicas": 5, "scaleTargetRef": TARGET, **spec}}


def target(**reference: str) -> Tree:
    return scaler(scaleTargetRef={**TARGET, **reference})


def metric(kind: str, **sources: Tree) -> Tree:
    return scaler(metrics=[{"type": kind, **sources}])


def cpu(**target: object) -> Tree:
    source = {"name": "cpu", "target": {"type": "Utilization", **target}}
    return metric("Resource", resource=source)


def scaled_up(**rules: object) -> Tree:
    return scaler(behavior={"scaleUp": rules})


UP = "spec.behavior.scaleUp"


@pytest.mark.parametrize(
    ("tree", "paths"),
    [
        pytest.param(
            target(kind="..", name="a/b", apiVersion="v1"),
            [f"spec.scaleTargetRef.{name}" for name in ("kind", "name", "apiVersion")],
            id="a malformed target",
        ),
        pytest.param(
            target(kind="ReplicationController", apiVersion="v1"),
            [],
            id="a target of the core group",
        ),
        pytest.param(
            cpu(averageUtilization=0),
            [f"{METRIC}.resource.target.averageUtilization"],
            id="a utilization of 0",
        ),
        pytest.param(
            cpu(averageUtilization=5, averageValue="1"),
            [f"{METRIC}.resource.target.averageValue"],
            id="two targets",
        ),
        pytest.param(
            cpu(),
            [f"{METRIC}.resource.target.averageUtilization"],
            id="no target",
        ),
        pytest.param(
            metric("ContainerResource", containerResource={"target": AVERAGE}),
            [f"{METRIC}.containerResource.{name}" for name in ("name", "container")],
            id="no container",
        ),
        pytest.param(
            metric("Pods", pods={"metric": {"name": "a%"}, "target": {"type": "V"}}),
            [
                f"{METRIC}.pods.{name}"
                for name in ("metric.name", "target.type", "target.averageValue")
            ],
            id="a malformed metric of pods",
        ),
        pytest.param(
            metric("Object", object={"metric": {"name": "m"}, "target": AVERAGE}),
            [f"{METRIC}.object.describedObject.{name}" for name in ("kind", "name")],
            id="a metric of no object",
        ),
        pytest.param(
            metric(
                "External",
                external={"metric": {"name": "m"}, "target": {**AVERAGE, "value": "0"}},
            ),
            [f"{METRIC}.external.target.value"] * 2,
            id="an external metric with two targets",
        ),
        pytest.param(
            metric("Pods", resource={"name": "cpu", "target": AVERAGE}),
            [f"{METRIC}.pods"],
            id="another source than its type",
        ),
        pytest.param(
            metric(
                "Resource",
                resource={"name": "cpu", "target": AVERAGE},
                pods={"metric": {"name": "m"}, "target": AVERAGE},
            ),
            [f"{METRIC}.pods"],
            id="two sources",
        ),
        pytest.param(
            scaled_up(stabilizationWindowSeconds=3601, selectPolicy="", policies=[]),
            [
                f"{UP}.{name}"
                for name in ("stabilizationWindowSeconds", "selectPolicy", "policies")
            ],
            id="malformed rules",
        ),
        pytest.param(
            scaled_up(policies=[{"type": "Half", "value": 0, "periodSeconds": 1801}]),
            [f"{UP}.policies[0].{name}" for name in ("type", "value", "periodSeconds")],
            id="a malformed policy",
        ),
        pytest.param(
            scaled_up(tolerance="-1"), [f"{UP}.tolerance"], id="a tolerance below 0"
        ),
    ],
)
def test_autoscaler_is_rejected_for_the_fields_that_an_api_server_names(
    tree: Tree, paths: list[str]
) -> None:
    assert rejected_paths("HorizontalPodAutoscaler", tree) == paths


def stored(tree: Tree) -> HorizontalPodAutoscaler:
    metadata = {"name": "a", **tree.get("metadata", {})}
    tree = {**tree, "metadata": metadata}
    cluster = make_cluster(controllers=False)
    return cluster.create(from_wire(tree, HorizontalPodAutoscaler))


def test_autoscaler_without_metrics_looks_at_80_percent_of_cpu() -> None:
    (metric,) = stored(scaler()).spec.metrics
    assert metric.resource is not None
    assert metric.resource.name == "cpu"
    assert metric.resource.target.average_utilization == 80


def test_rules_of_one_direction_complete_both() -> None:
    behavior = stored(scaled_up(selectPolicy="Min")).spec.behavior
    assert behavior is not None
    assert behavior.scale_up is not None
    assert behavior.scale_down is not None
    up, down = behavior.scale_up, behavior.scale_down
    assert up.select_policy == "Min"
    assert [policy.type for policy in up.policies or ()] == ["Pods", "Percent"]
    assert [policy.type for policy in down.policies or ()] == ["Percent"]
    assert (up.stabilization_window_seconds, down.stabilization_window_seconds) == (
        0,
        None,
    )


def test_stored_autoscaler_may_have_a_target_without_a_group() -> None:
    tree = target(apiVersion="v1") | {"metadata": {"resourceVersion": "7"}}
    assert stored(tree).spec.scale_target_ref.api_version == "v1"
