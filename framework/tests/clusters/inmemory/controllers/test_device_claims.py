"""Resource claims are created, reserved, freed and deleted with their pods.

Cases follow upstream's ``pkg/controller/resourceclaim/controller_test.go``
(Kubernetes v1.36).
"""

import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.inmemory import AdmissionError, InMemoryCluster, make_nodes
from quaymaster.objects import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceClass,
    PodResourceClaim,
    PodResourceClaimStatus,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceSlice,
)
from quaymaster.testing import (
    make_device_request,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_claim_template,
)
from tests.kit.clusters import make_cluster, object_names, pass_time

DEVICE = "gpu.example.com/pool/gpu-0"
FINALIZER = "resource.kubernetes.io/delete-protection"
TEMPLATE = make_resource_claim_template()


def make_user(
    name: str = "pod", *, template: str | None = None, node: str | None = None
) -> Pod:
    """Return a pod with a claim of a template, or with the claim ``claim``."""
    wanted = PodResourceClaim(
        name="gpu",
        resource_claim_name=None if template else "claim",
        resource_claim_template_name=template,
    )
    pod = make_pod(name=name, node=node)
    return replace(pod, spec=replace(pod.spec, resource_claims=(wanted,)))


def allocated(claim: ResourceClaim, *pods: Pod) -> ResourceClaim:
    """Return a claim that the scheduler has allocated for some pods."""
    found = make_resource_claim(devices=[DEVICE]).status.allocation
    users = tuple(
        ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)
        for pod in pods
    )
    return replace(
        claim,
        metadata=replace(claim.metadata, finalizers=(FINALIZER,)),
        status=replace(claim.status, allocation=found, reserved_for=users),
    )


def claims_of(cluster: InMemoryCluster) -> list[ResourceClaim]:
    return list(cluster.list(ResourceClaim).items)


def pod_of(cluster: InMemoryCluster) -> Pod:
    return cluster.get(Pod, "default/pod")


def test_pod_gets_a_claim_of_its_template() -> None:
    cluster = make_cluster(TEMPLATE, make_user(template="template"))
    (claim,) = claims_of(cluster)
    assert claim.name.startswith("pod-gpu-")
    assert claim.spec == TEMPLATE.spec.spec
    assert claim.metadata.annotations == {
        "resource.kubernetes.io/pod-claim-name": "gpu"
    }
    owner = claim.metadata.controller
    assert owner is not None
    assert owner.uid == pod_of(cluster).uid
    expected = PodResourceClaimStatus(name="gpu", resource_claim_name=claim.name)
    assert pod_of(cluster).status.resource_claim_statuses == (expected,)


def test_claim_is_created_from_a_template_whose_selector_does_not_compile_here() -> (
    None
):
    request = make_device_request(selectors=["device.of(2030).is('ready')"])
    template = make_resource_claim_template(requests=[request])
    stored = replace(
        template, metadata=replace(template.metadata, resource_version="7")
    )
    cluster = make_cluster(stored, make_user(template="template"))
    assert [claim.spec for claim in claims_of(cluster)] == [template.spec.spec]


def test_pod_waits_for_its_template() -> None:
    cluster = make_cluster(make_user(template="template"))
    assert claims_of(cluster) == []
    (event,) = cluster.events()
    assert event.note == (
        'PodResourceClaim gpu: resource claim template "template": not found'
    )
    cluster.create(TEMPLATE)
    pass_time(cluster, 0)
    assert len(claims_of(cluster)) == 1


def test_long_names_are_shortened_on_both_sides() -> None:
    pod = make_user(template="template")
    metadata = replace(pod.metadata, name="p" * 60)
    cluster = make_cluster(TEMPLATE, replace(pod, metadata=metadata))
    (claim,) = claims_of(cluster)
    assert len(claim.name) <= 63
    assert claim.name.startswith("p" * 52 + "-gp")


def test_claim_that_was_deleted_by_mistake_is_made_again() -> None:
    cluster = make_cluster(TEMPLATE, make_user(template="template"))
    (claim,) = claims_of(cluster)
    cluster.delete(ResourceClaim, claim.key)
    pass_time(cluster, 0)
    (again,) = claims_of(cluster)
    assert again.uid != claim.uid
    (status,) = pod_of(cluster).status.resource_claim_statuses
    assert status.resource_claim_name == again.name


def test_claim_of_a_pod_goes_with_it() -> None:
    cluster = make_cluster(TEMPLATE, make_user(template="template"), nodes=1)
    (claim,) = claims_of(cluster)
    cluster.update(allocated(claim, pod_of(cluster)))
    cluster.delete(Pod, "default/pod")
    pass_time(cluster, 0)
    assert claims_of(cluster) == []


def test_claim_of_a_pod_goes_when_it_has_ended() -> None:
    cluster = make_cluster(TEMPLATE, make_user(template="template"), nodes=1)
    (claim,) = claims_of(cluster)
    cluster.update(allocated(claim, pod_of(cluster)))
    cluster.bind(pod_of(cluster), "n0")
    cluster.patch_status(pod_of(cluster), {"phase": "Succeeded"})
    pass_time(cluster, 0)
    assert claims_of(cluster) == []


def test_shared_claim_is_free_without_consumers() -> None:
    pod, other = make_user(), make_user("other")
    claim = make_resource_claim()
    cluster = make_cluster(pod, other, allocated(claim, pod, other))
    cluster.delete(Pod, "default/pod")
    pass_time(cluster, 0)
    (kept,) = claims_of(cluster)
    assert [consumer.name for consumer in kept.status.reserved_for] == ["other"]
    assert kept.status.allocation is not None
    cluster.delete(Pod, "default/other")
    pass_time(cluster, 0)
    (free,) = claims_of(cluster)
    assert free.status.allocation is None
    assert free.metadata.finalizers == ()


def test_pod_that_comes_with_a_node_has_its_claim_reserved() -> None:
    pod = make_user(node="n0")
    cluster = make_cluster(allocated(make_resource_claim()), pod, nodes=1)
    (claim,) = claims_of(cluster)
    assert [consumer.uid for consumer in claim.status.reserved_for] == [pod.uid]


@pytest.mark.parametrize("conditions", [(), ("Attached", "Ready")])
def test_devices_are_made_ready_once_they_are_reserved(
    conditions: tuple[str, ...],
) -> None:
    pod = make_user()
    cluster = make_cluster(pod, make_resource_claim())
    (claim,) = claims_of(cluster)
    given = allocated(claim, pod)
    assert given.status.allocation is not None
    (result,) = given.status.allocation.devices.results
    result = replace(result, binding_conditions=conditions)
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(result,)))
    cluster.update(replace(given, status=replace(given.status, allocation=allocation)))
    pass_time(cluster, 0)
    (ready,) = claims_of(cluster)
    types = [
        condition.type
        for device in ready.status.devices
        for condition in device.conditions
    ]
    assert types == list(conditions)


def test_claims_that_were_read_from_a_cluster_stay_as_they_are() -> None:
    claim = allocated(make_resource_claim(), make_pod(name="elsewhere"))
    stored = replace(claim, metadata=replace(claim.metadata, resource_version="7"))
    cluster = make_cluster()
    cluster.load([stored], as_it_is=True)
    pass_time(cluster, 0)
    (kept,) = claims_of(cluster)
    assert kept.status == stored.status


def test_deleted_claim_stays_until_its_consumer_is_gone() -> None:
    pod = make_user()
    cluster = make_cluster(pod, allocated(make_resource_claim(), pod))
    cluster.delete(ResourceClaim, "default/claim")
    pass_time(cluster, 0)
    assert len(claims_of(cluster)) == 1
    cluster.delete(Pod, "default/pod")
    pass_time(cluster, 0)
    assert claims_of(cluster) == []


def test_nodes_have_the_devices_that_they_are_given() -> None:
    nodes = make_nodes(
        ["1:cpu=4,memory=16Gi,devices=gpu.example.com:130,devices=nic.example.com:2"]
    )
    cluster = make_cluster(*nodes)
    slices = cluster.list(ResourceSlice).items
    assert {device_slice.spec.node_name for device_slice in slices} == {"node-000"}
    assert {
        device_slice.name: len(device_slice.spec.devices) for device_slice in slices
    } == {
        "node-000-gpu.example.com": 128,
        "node-000-gpu.example.com-1": 2,
        "node-000-nic.example.com": 2,
    }
    classes = object_names(cluster.list(DeviceClass).items)
    assert classes == ["gpu.example.com", "nic.example.com"]
    names = {
        device.name
        for device_slice in slices[:2]
        for device in device_slice.spec.devices
    }
    assert len(names) == 130
    cluster.delete(Node, "node-000")
    pass_time(cluster, 0)
    assert cluster.list(ResourceSlice).items == ()


@pytest.mark.parametrize("text", ["gpu", "gpu.example.com:0", "a.b:1,a.b:2", "A:1", ""])
def test_devices_that_cannot_be_read_are_refused(text: str) -> None:
    node = make_node(annotations={"simulation.quaymaster.io/devices": text})
    with pytest.raises(AdmissionError, match=r"simulation\.quaymaster\.io/devices"):
        make_cluster(node)
