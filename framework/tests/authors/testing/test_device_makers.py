"""Makers create devices, classes and claims that a cluster accepts."""

import pytest

from quaymaster import ApiObject
from quaymaster.objects import (
    DeviceConstraint,
    DeviceTaint,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from quaymaster.testing import (
    make_device,
    make_device_class,
    make_device_request,
    make_device_taint_rule,
    make_pod,
    make_resource_claim,
    make_resource_claim_template,
    make_resource_slice,
)
from tests.kit.clusters import make_cluster

TAINT = DeviceTaint(key="broken", effect="NoSchedule")


@pytest.mark.parametrize(
    "made",
    [
        make_device_class(selectors=["true"], extended_resource_name="example.com/x"),
        make_resource_slice(node="node-a", devices=8),
        make_resource_slice(
            devices=[
                make_device(
                    attributes={"model": "A100", "numa": 1, "healthy": True},
                    capacity={"memory": "80Gi"},
                    taints=[TAINT],
                )
            ]
        ),
        make_resource_claim(
            requests=[
                make_device_request(name="all", count=None, selectors=["true"]),
                make_device_request(name="two", count=2, admin_access=True),
            ],
            constraints=[DeviceConstraint(match_attribute="gpu.example.com/numa")],
        ),
        make_resource_claim_template(),
        make_device_taint_rule(driver="gpu.example.com", pool="n", device="gpu-0"),
        make_device_taint_rule(name="every", effect="NoExecute", time_added=1.0),
    ],
    ids=lambda made: made.key,
)
def test_cluster_accepts_the_objects_of_the_makers(made: ApiObject) -> None:
    stored = make_cluster(controllers=False).create(made)
    assert stored.name == made.name


def test_slice_with_a_number_of_devices_sets_the_count() -> None:
    devices = make_resource_slice(devices=2).spec.devices
    assert [device.name for device in devices] == ["gpu-0", "gpu-1"]


def test_allocated_claim_has_its_devices() -> None:
    claim = make_resource_claim(devices=["gpu.example.com/node-a/gpu-1"])
    assert claim.status.allocation is not None
    [result] = claim.status.allocation.devices.results
    assert (result.driver, result.pool) == ("gpu.example.com", "node-a")
    assert (result.request, result.device) == ("devices", "gpu-1")


def test_reserved_claim_names_the_pod_of_that_name() -> None:
    pod = make_pod(name="web")
    claim: ResourceClaim = make_resource_claim(reserved_for=["web"])
    consumer = ResourceClaimConsumerReference(resource="pods", name="web", uid=pod.uid)
    assert claim.status.reserved_for == (consumer,)
