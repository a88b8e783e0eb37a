"""DynamicResources with feature gates of Kubernetes 1.37 that are off by default.

Mirrors ``Filter`` and ``AllocatorFeatures`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceAttribute,
    DeviceConstraint,
    DeviceRequestAllocationResult,
    PodResourceClaim,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster.testing import (
    PluginHarness,
    SchedulerHarness,
    make_device,
    make_device_class,
    make_device_request,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_slice,
)
from quaymaster_dynamic_resources import DynamicResources

OPERATIONS = "DRAOptionalNodeOperations"
LISTS = "DRAListTypeAttributes"


def claiming() -> Pod:
    pod = make_pod(name="pod")
    claim = PodResourceClaim(name="claim", resource_claim_name="claim")
    return replace(pod, spec=replace(pod.spec, resource_claims=(claim,)))


def declaring(name: str, *features: str) -> Node:
    node = make_node(name=name)
    return replace(node, status=replace(node.status, declared_features=features))


def scheduled(*objects: ApiObject, gate: str) -> SchedulerHarness:
    kubernetes = Kubernetes(feature_gates={gate: True})
    given = [make_device_class(), claiming(), *objects]
    harness = SchedulerHarness(given, kubernetes=kubernetes)
    harness.settle()
    return harness


def skipping(node: str) -> ResourceSlice:
    resource_slice = make_resource_slice(node=node)
    spec = replace(resource_slice.spec, skip_node_operations=("*",))
    return replace(resource_slice, spec=spec)


def test_devices_that_skip_operations_are_for_nodes_that_declare_it() -> None:
    harness = scheduled(
        declaring("a"),
        declaring("b", OPERATIONS),
        skipping("a"),
        skipping("b"),
        make_resource_claim(),
        gate=OPERATIONS,
    )
    assert harness.node_of("pod") == "b"
    stored = harness.cluster.get(ResourceClaim, "default/claim")
    assert stored.status.allocation is not None
    (given,) = stored.status.allocation.devices.results
    assert given.skip_node_operations == ("*",)


@pytest.mark.parametrize(("version", "rejected"), [("1.36", ""), ("1.37", "a")])
def test_claims_with_such_devices_need_such_nodes_since_1_37_whatever_the_gate(
    version: str, rejected: str
) -> None:
    given = DeviceRequestAllocationResult(
        request="devices",
        driver="gpu.example.com",
        pool="a",
        device="gpu-0",
        skip_node_operations=("*",),
    )
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(given,)))
    claim = make_resource_claim()
    claim = replace(claim, status=replace(claim.status, allocation=allocation))
    harness = PluginHarness(
        DynamicResources,
        nodes=[declaring("a"), declaring("b", OPERATIONS)],
        objects=[claim, make_device_class()],
        kubernetes=Kubernetes(version),
    )
    found = harness.filter(claiming())
    assert "".join(found) == rejected
    assert all("not available on the node" in str(status) for status in found.values())


def test_lists_of_attributes_decide_where_a_pod_goes() -> None:
    def rails(node: str, *lists: tuple[str, ...]) -> ResourceSlice:
        devices = [
            replace(
                make_device(name=f"nic-{at}"),
                attributes={"rail": DeviceAttribute(string_values=values)},
            )
            for at, values in enumerate(lists)
        ]
        return make_resource_slice(node=node, devices=devices)

    claim = make_resource_claim(requests=[make_device_request(count=2)])
    same = DeviceConstraint(match_attribute="gpu.example.com/rail")
    spec = replace(claim.spec.devices, constraints=(same,))
    claim = replace(claim, spec=replace(claim.spec, devices=spec))
    harness = scheduled(
        make_node(name="a"),
        make_node(name="b"),
        rails("a", ("x",), ("y", "z")),
        rails("b", ("x", "y"), ("y", "z")),
        claim,
        gate=LISTS,
    )
    assert harness.node_of("pod") == "b"
