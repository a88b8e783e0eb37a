"""Claims of PodGroups are created from templates, and deleted after their groups.

Cases follow upstream's ``pkg/controller/resourceclaim/controller_test.go``
(Kubernetes v1.37).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.config import Kubernetes
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    PodGroup,
    PodGroupResourceClaim,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from quaymaster.testing import (
    make_pod,
    make_pod_group,
    make_resource_claim,
    make_resource_claim_template,
)
from tests.kit.clusters import make_cluster, pass_time

KUBERNETES: Final = Kubernetes(
    "1.37", {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
)
TEMPLATE: Final = make_resource_claim_template()
GROUP: Final = make_pod_group(
    name="gang",
    resource_claims=[
        PodGroupResourceClaim(name="gpu", resource_claim_template_name="template")
    ],
)


def member(name: str, *, called: str = "gpu", node: str | None = None) -> Pod:
    claim = PodResourceClaim(name=called, resource_claim_template_name="template")
    pod = make_pod(name=name, node=node, scheduling_group="gang")
    return replace(pod, spec=replace(pod.spec, resource_claims=(claim,)))


def cluster_of(*objects: ApiObject) -> InMemoryCluster:
    return make_cluster(*objects, kubernetes=KUBERNETES)


def claims_of(cluster: InMemoryCluster) -> list[ResourceClaim]:
    return list(cluster.list(ResourceClaim).items)


def names_in_statuses(cluster: InMemoryCluster) -> list[str | None]:
    of_groups = [
        status.resource_claim_name
        for group in cluster.list(PodGroup).items
        for status in group.status.resource_claim_statuses
    ]
    of_pods = [
        status.resource_claim_name
        for pod in cluster.list(Pod).items
        for status in pod.status.resource_claim_statuses
    ]
    return [*of_groups, *of_pods]


def test_group_and_its_pods_get_one_claim_of_a_template() -> None:
    cluster = cluster_of(TEMPLATE, GROUP, member("p"), member("q"))
    (claim,) = claims_of(cluster)
    assert claim.name.startswith("gang-gpu-")
    assert claim.metadata.annotations == {
        "resource.kubernetes.io/pod-claim-name": "gpu"
    }
    owner = claim.metadata.controller
    assert owner is not None
    assert (owner.api_version, owner.kind) == ("scheduling.k8s.io/v1beta1", "PodGroup")
    assert names_in_statuses(cluster) == [claim.name] * 3


def test_pods_wait_for_their_group() -> None:
    cluster = cluster_of(TEMPLATE, member("p"))
    assert claims_of(cluster) == []
    cluster.create(GROUP)
    pass_time(cluster, 0)
    (claim,) = claims_of(cluster)
    assert names_in_statuses(cluster) == [claim.name] * 2


def test_group_waits_for_its_template() -> None:
    cluster = cluster_of(GROUP)
    assert claims_of(cluster) == []
    (event,) = cluster.events()
    text = 'PodGroupResourceClaim gpu: resource claim template "template": not found'
    assert event.note == text
    cluster.create(TEMPLATE)
    pass_time(cluster, 0)
    assert len(claims_of(cluster)) == 1


def test_pod_that_calls_a_claim_otherwise_gets_its_own() -> None:
    cluster = cluster_of(TEMPLATE, GROUP, member("p", called="own"))
    owners = [claim.metadata.owner_references[0].kind for claim in claims_of(cluster)]
    assert sorted(owners) == ["Pod", "PodGroup"]


def test_claim_that_was_deleted_by_mistake_is_created_again() -> None:
    cluster = cluster_of(TEMPLATE, GROUP, member("p"))
    (first,) = claims_of(cluster)
    cluster.delete(ResourceClaim, first.key)
    pass_time(cluster, 0)
    (second,) = claims_of(cluster)
    assert second.name != first.name
    assert names_in_statuses(cluster) == [second.name] * 2


def test_claim_is_deleted_after_its_group() -> None:
    cluster = cluster_of(TEMPLATE, GROUP)
    cluster.delete(PodGroup, GROUP.key)
    pass_time(cluster, 0)
    assert claims_of(cluster) == []


def test_reservation_ends_with_the_group() -> None:
    named = PodGroupResourceClaim(name="gpu", resource_claim_name="claim")
    group = make_pod_group(name="gang", resource_claims=[named])
    user = ResourceClaimConsumerReference(
        api_group="scheduling.k8s.io", resource="podgroups", name="gang", uid=group.uid
    )
    claim = make_resource_claim(devices=["gpu.example.com/pool/gpu-0"])
    claim = replace(claim, status=replace(claim.status, reserved_for=(user,)))
    cluster = cluster_of(group, claim)
    assert claims_of(cluster)[0].status.reserved_for == (user,)
    cluster.delete(PodGroup, group.key)
    pass_time(cluster, 0)
    assert claims_of(cluster)[0].status.reserved_for == ()


def test_bound_pod_reserves_the_claim_for_its_group() -> None:
    named = PodGroupResourceClaim(name="gpu", resource_claim_name="claim")
    group = make_pod_group(name="gang", resource_claims=[named])
    claim = make_resource_claim(devices=["gpu.example.com/pool/gpu-0"])
    pod = make_pod(name="p", node="n0", scheduling_group="gang")
    used = PodResourceClaim(name="gpu", resource_claim_name="claim")
    pod = replace(pod, spec=replace(pod.spec, resource_claims=(used,)))
    cluster = make_cluster(group, claim, pod, nodes=1, kubernetes=KUBERNETES)
    (stored,) = claims_of(cluster)
    users = [(user.resource, user.name) for user in stored.status.reserved_for]
    assert users == [("podgroups", "gang")]
