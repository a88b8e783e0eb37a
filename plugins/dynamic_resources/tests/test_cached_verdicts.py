"""Verdicts on nodes are remembered, and forgotten when they may be other ones."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    DeviceClass,
    PodResourceClaim,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster.testing import (
    SchedulerHarness,
    make_device,
    make_device_class,
    make_device_request,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_claim_template,
    make_resource_slice,
)


def pod_with_claim(name: str) -> Pod:
    named = PodResourceClaim(name="gpu", resource_claim_template_name="template")
    pod = make_pod(name=name)
    return replace(pod, spec=replace(pod.spec, resource_claims=(named,)))


def more_devices(cluster: InMemoryCluster) -> None:
    stored = cluster.get(ResourceSlice, "a-gpu.example.com")
    devices = (make_device(name="gpu-0"), make_device(name="gpu-1"))
    cluster.update(replace(stored, spec=replace(stored.spec, devices=devices)))


def another_slice(cluster: InMemoryCluster) -> None:
    cluster.create(make_resource_slice(name="other", driver="b.example.com", node="a"))


def freed_claim(cluster: InMemoryCluster) -> None:
    stored = cluster.get(ResourceClaim, "default/old")
    cluster.patch_status(stored, {"allocation": None})


def wider_class(cluster: InMemoryCluster) -> None:
    stored = cluster.get(DeviceClass, "gpu")
    cluster.update(replace(stored, spec=replace(stored.spec, selectors=())))


def new_node(cluster: InMemoryCluster) -> None:
    cluster.create(make_node(name="b"))
    cluster.create(make_resource_slice(node="b"))


@pytest.mark.parametrize(
    "change", [more_devices, another_slice, freed_claim, wider_class, new_node]
)
def test_what_makes_devices_free_is_noticed(
    change: Callable[[InMemoryCluster], None],
) -> None:
    taken = make_resource_claim(name="old", devices=["gpu.example.com/a/gpu-0"])
    spare = make_resource_slice(name="spare", driver="spare.example.com", node="a")
    selectors = ["device.driver != 'spare.example.com'"]
    harness = SchedulerHarness(
        [
            make_device_class(selectors=selectors),
            make_resource_claim_template(requests=[make_device_request()]),
            make_node(name="a"),
            make_resource_slice(node="a"),
            spare,
            taken,
            pod_with_claim("first"),
            pod_with_claim("second"),
        ]
    )
    harness.settle()
    assert not harness.node_of("first")
    change(harness.cluster)
    harness.advance(30.0)
    placed = [name for name in ("first", "second") if harness.node_of(name)]
    assert len(placed) == 1


def test_pods_of_one_template_fill_one_node_after_the_other() -> None:
    pods = [pod_with_claim(f"pod-{at}") for at in range(7)]
    nodes = [make_node(name=name) for name in "abc"]
    slices = [make_resource_slice(node=name, devices=2) for name in "abc"]
    harness = SchedulerHarness(
        [
            make_device_class(),
            make_resource_claim_template(),
            *nodes,
            *slices,
            *pods,
        ]
    )
    harness.settle()
    placed = sorted(filter(None, (harness.node_of(pod.name) for pod in pods)))
    assert placed == ["a", "a", "b", "b", "c", "c"]


def test_devices_are_free_for_those_who_come_as_others_go() -> None:
    """Claims are deleted before the scheduler has heard that they were written."""
    harness = SchedulerHarness(
        [
            make_device_class(),
            make_resource_claim_template(),
            make_node(name="a"),
            make_resource_slice(node="a", devices=2),
        ]
    )
    for turn in range(5):
        for at in range(2):
            harness.cluster.create(pod_with_claim(f"pod-{turn}-{at}"))
        harness.settle()
        for at in range(2):
            name = f"pod-{turn}-{at}"
            assert harness.node_of(name) == "a"
            key = f"default/{name}"
            harness.cluster.delete(Pod, key, grace_period_seconds=0)
