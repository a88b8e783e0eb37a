"""The pods of a group share the claims of the group.

Cases follow the families in upstream's ``test/integration/dra`` and
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources_test.go``
(Kubernetes v1.37).
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodGroup,
    PodGroupResourceClaim,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import (
    SchedulerHarness,
    make_device_class,
    make_node,
    make_pod,
    make_pod_group,
    make_resource_claim,
    make_resource_claim_template,
    make_resource_slice,
)

GATES: Final = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
RACE: Final = "got allocated elsewhere in the meantime"


def group(*, template: bool = False, min_count: int | None = 2) -> PodGroup:
    claim = PodGroupResourceClaim(
        name="gpu",
        resource_claim_name=None if template else "claim",
        resource_claim_template_name="template" if template else None,
    )
    return make_pod_group(name="gang", min_count=min_count, resource_claims=[claim])


def member(name: str, *, template: bool = False, called: str = "gpu") -> Pod:
    claim = PodResourceClaim(
        name=called,
        resource_claim_name=None if template else "claim",
        resource_claim_template_name="template" if template else None,
    )
    pod = make_pod(name=name, scheduling_group="gang", requests={"cpu": "1"})
    return replace(pod, spec=replace(pod.spec, resource_claims=(claim,)))


def cluster(
    *objects: ApiObject,
    gates: Mapping[str, bool] = GATES,
    cpu: str = "2",
    verify: int = 1,
) -> SchedulerHarness:
    return SchedulerHarness(
        [
            make_device_class(),
            make_node(name="a", allocatable={"cpu": cpu, "pods": "10"}),
            make_node(name="b", allocatable={"cpu": cpu, "pods": "10"}),
            make_resource_slice(node="a", devices=1),
            *objects,
        ],
        kubernetes=Kubernetes("1.37", gates),
        options=SchedulerOptions(verify=verify),
    )


def claim_of(harness: SchedulerHarness) -> ResourceClaim:
    (claim,) = harness.cluster.list(ResourceClaim).items
    return claim


def users(claim: ResourceClaim) -> list[str]:
    return [f"{user.resource}/{user.name}" for user in claim.status.reserved_for]


def nodes(harness: SchedulerHarness) -> list[str]:
    return [pod.node_name for pod in harness.cluster.list(Pod).items]


def notes(harness: SchedulerHarness) -> str:
    return " ".join(event.note for event in harness.cluster.events())


def why(harness: SchedulerHarness) -> str:
    (stored,) = harness.cluster.list(PodGroup).items
    return stored.status.conditions[0].message


def test_pods_of_a_group_share_a_claim_that_is_reserved_for_the_group() -> None:
    harness = cluster(make_resource_claim(), group(), member("p"), member("q"))
    harness.settle()
    assert nodes(harness) == ["a", "a"]
    assert users(claim_of(harness)) == ["podgroups/gang"]


def test_first_pod_writes_the_claim_and_the_others_are_bound_later() -> None:
    harness = cluster(make_resource_claim(), group(), member("p"), member("q"))
    harness.settle()
    assert RACE in notes(harness)
    assert len(harness.attempts) == 3


def test_claim_of_a_template_belongs_to_the_group() -> None:
    pods = [member(name, template=True) for name in ("p", "q")]
    harness = cluster(make_resource_claim_template(), group(template=True), *pods)
    harness.settle()
    assert nodes(harness) == ["a", "a"]
    claim = claim_of(harness)
    owner = claim.metadata.controller
    assert owner is not None
    assert (owner.kind, owner.name) == ("PodGroup", "gang")
    assert users(claim) == ["podgroups/gang"]


def test_claim_under_another_name_is_reserved_for_each_pod() -> None:
    pods = [member(name, called="own") for name in ("p", "q")]
    harness = cluster(make_resource_claim(), group(), *pods)
    harness.settle()
    assert nodes(harness) == ["a", "a"]
    assert sorted(users(claim_of(harness))) == ["pods/p", "pods/q"]


def test_without_the_gate_claims_are_reserved_for_pods() -> None:
    harness = cluster(
        make_resource_claim(),
        group(),
        member("p"),
        member("q"),
        gates={"GenericWorkload": True},
    )
    harness.settle()
    assert sorted(users(claim_of(harness))) == ["pods/p", "pods/q"]


def test_group_that_does_not_fit_releases_its_devices() -> None:
    pods = [member(name) for name in ("p", "q", "r")]
    harness = cluster(make_resource_claim(), group(min_count=3), *pods)
    harness.advance(10)
    assert nodes(harness) == ["", "", ""]
    claim = claim_of(harness)
    assert claim.status.allocation is None
    assert not claim.status.reserved_for


def reserved_claim(pods_group: PodGroup, node: str) -> ResourceClaim:
    """Return a claim that a group has reserved, with devices for one node."""
    claim = make_resource_claim(devices=["gpu.example.com/a/gpu-0"])
    allocation = claim.status.allocation
    assert allocation is not None
    named = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node,))
    selector = NodeSelector(
        node_selector_terms=(NodeSelectorTerm(match_fields=(named,)),)
    )
    user = ResourceClaimConsumerReference(
        api_group="scheduling.k8s.io",
        resource="podgroups",
        name=pods_group.name,
        uid=pods_group.uid,
    )
    status = replace(
        claim.status,
        allocation=replace(allocation, node_selector=selector),
        reserved_for=(user,),
    )
    return replace(claim, status=status)


def test_claim_that_no_node_can_use_is_deallocated_for_the_group() -> None:
    pods_group = group()
    harness = cluster(
        pods_group, reserved_claim(pods_group, "gone"), member("p"), member("q")
    )
    harness.advance(0.5)
    assert claim_of(harness).status.allocation is None
    harness.settle()
    assert nodes(harness) == ["a", "a"]


def test_unused_reservation_of_a_group_is_removed() -> None:
    pods_group = group()
    large = [
        replace(
            pod,
            spec=replace(pod.spec, node_selector={"disk": "ssd"}),
        )
        for pod in (member("p"), member("q"))
    ]
    harness = cluster(pods_group, reserved_claim(pods_group, "a"), *large)
    harness.advance(0.5)
    assert "ResourceClaim unreserved for PodGroup" in why(harness)
    assert not claim_of(harness).status.reserved_for
