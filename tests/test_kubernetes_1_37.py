"""Whole attempts of the default profile in Kubernetes 1.36 and 1.37."""

import pytest
from msgspec.structs import replace

from quaymaster.config import Kubernetes, default_config
from quaymaster.objects import ImageVolumeSource, PodSpec, Volume
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import explain_pod, simulate
from quaymaster.testing import make_node, make_pod

REGISTRY = PluginRegistry.discover()
SMALL = make_node(allocatable={"cpu": "1"})
GIB = 2**30
FOUND = "preemption: found a potential placement for pod on"


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.36", "no new claims to deallocate, preemption: 0/1 nodes are available: "),
        ("1.37", "preemption: 0/1 nodes are available: "),
    ],
)
def test_devices_say_nothing_of_pods_without_claims(version: str, message: str) -> None:
    pod = make_pod(name="p", requests={"cpu": "9"})
    config = default_config(REGISTRY, kubernetes=Kubernetes(version))
    (found,) = simulate([SMALL, pod], config=config, registry=REGISTRY).unscheduled
    assert found.message.startswith(
        f"0/1 nodes are available: 1 Insufficient cpu. {message}"
    )


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.36", ""),
        ("1.37", f" {FOUND} node n, preempting 1 victims"),
    ],
)
def test_preemption_tells_of_its_success(version: str, message: str) -> None:
    node = make_node(name="n", allocatable={"cpu": "1"})
    victim = make_pod(name="low", requests={"cpu": "1"}, node="n")
    pod = make_pod(name="high", requests={"cpu": "1"}, priority=9)
    explained = explain_pod(
        "high",
        [node, victim, pod],
        config=default_config(REGISTRY, kubernetes=Kubernetes(version)),
        registry=REGISTRY,
        attempt=1,
    )
    unfit = "0/1 nodes are available: 1 Insufficient cpu."
    assert explained.attempts[0].message == f"{unfit}{message}"


@pytest.mark.parametrize(("version", "score"), [("1.36", 36), ("1.37", 18)])
def test_image_volumes_raise_the_sum_that_is_wanted(version: str, score: int) -> None:
    node = make_node(images={"data:latest": GIB * 3 // 4})
    pod = make_pod(name="p", images=["app"])
    volume = Volume(name="data", image=ImageVolumeSource(reference="data"))
    spec: PodSpec = replace(pod.spec, volumes=(volume,))
    explained = explain_pod(
        "p",
        [node, make_node(name="other"), replace(pod, spec=spec)],
        config=default_config(REGISTRY, kubernetes=Kubernetes(version)),
        registry=REGISTRY,
    )
    assert explained.explanation is not None
    scores = {
        scores_of_node.node: scores_of_node.plugins["ImageLocality"].raw
        for scores_of_node in explained.explanation.scores
    }
    assert scores == {"node": score, "other": 0}
