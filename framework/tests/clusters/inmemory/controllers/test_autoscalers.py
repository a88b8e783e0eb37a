"""Autoscalers keep the size of workloads within limits.

As ``pkg/controller/podautoscaler/horizontal.go`` (Kubernetes v1.37) without metrics.
"""

from typing import Any

import pytest

from quaymaster.config import Kubernetes
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import Deployment, HorizontalPodAutoscaler, from_wire
from quaymaster.scheduler import VirtualClock
from tests.kit.clusters import make_cluster, pods_of
from tests.kit.workloads import make_deployment, make_stateful_set, scale


def make_autoscaler(
    least: int | None, most: int, kind: str = "Deployment", **spec: object
) -> HorizontalPodAutoscaler:
    target = {"apiVersion": "apps/v1", "kind": kind, "name": "web"}
    limits: dict[str, Any] = {"maxReplicas": most, "scaleTargetRef": target, **spec}
    if least is not None:
        limits["minReplicas"] = least
    return from_wire(
        {"metadata": {"name": "web"}, "spec": limits}, HorizontalPodAutoscaler
    )


@pytest.mark.parametrize(
    ("replicas", "least", "most", "expected"),
    [
        pytest.param(1, 12, 20, 12, id="too few"),
        pytest.param(9, 1, 4, 4, id="too many"),
        pytest.param(3, 1, 4, 3, id="between"),
        pytest.param(0, 2, 4, 0, id="scaled to zero"),
        pytest.param(3, None, 4, 3, id="one by default"),
    ],
)
def test_a_workload_has_a_size_within_the_limits(
    replicas: int, least: int | None, most: int, expected: int
) -> None:
    cluster = make_cluster(make_deployment(replicas), make_autoscaler(least, most))
    assert len(pods_of(cluster)) == expected
    (scaler,) = cluster.list(HorizontalPodAutoscaler).items
    assert scaler.status.desired_replicas == expected


def test_other_kinds_are_sized_too() -> None:
    cluster = make_cluster(
        make_stateful_set(1, policy="Parallel"), make_autoscaler(3, 4, "StatefulSet")
    )
    assert len(pods_of(cluster)) == 3


def test_a_changed_size_is_corrected_within_fifteen_seconds() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_deployment(4), make_autoscaler(4, 8), clock=clock)
    clock.advance(20.0)
    scale(cluster, Deployment, 1)
    assert len(pods_of(cluster)) == 1
    clock.advance(9.0)
    assert len(pods_of(cluster)) == 1
    clock.advance(1.0)
    assert len(pods_of(cluster)) == 4


def cluster_of(version: str) -> InMemoryCluster:
    return InMemoryCluster(VirtualClock(), kubernetes=Kubernetes(version))


def test_autoscalers_scale_to_zero_if_the_gate_is_on() -> None:
    # HPAScaleToZero is on by default since 1.37.
    source = {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}
    metrics = [{"type": "External", "external": source}]
    scaler = make_autoscaler(0, 4, metrics=metrics)
    cluster_of("1.37").load([scaler])
    with pytest.raises(AdmissionError, match=r"spec\.minReplicas"):
        cluster_of("1.36").load([scaler])
    with pytest.raises(AdmissionError, match=r"spec\.metrics"):
        cluster_of("1.37").load([make_autoscaler(0, 4)])


def test_limits_must_be_in_order() -> None:
    with pytest.raises(
        AdmissionError, match=r"spec\.maxReplicas: expected .* 5, got 4"
    ):
        make_cluster(make_autoscaler(5, 4))
