"""Volumes that are attached to one node, and pods that wait for them."""

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import CSIDriver, CSIDriverSpec, ObjectMeta
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import (
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from tests.kit.clusters import make_cluster, react
from tests.kit.volumes import make_default_class
from tests.kit.workloads import make_stateful_set, make_template

AT_ONCE = make_storage_class(volume_binding_mode="Immediate")


def claim(*modes: str) -> ApiObject:
    made = make_persistent_volume_claim(name="data", storage_class="standard")
    return replace(made, spec=replace(made.spec, access_modes=modes))


def user(name: str) -> Pod:
    return make_pod(name=name, claims=["data"])


def cluster_of(*objects: ApiObject) -> InMemoryCluster:
    pods = (user("old"), user("new"))
    cluster = make_cluster(AT_ONCE, *objects, *pods, clock=VirtualClock(), nodes=2)
    for index, pod in enumerate(("old", "new")):
        cluster.bind(cluster.get(Pod, f"default/{pod}"), f"n{index}")
    react(cluster)
    return cluster


def phase(cluster: InMemoryCluster, name: str) -> str:
    return cluster.get(Pod, f"default/{name}").status.phase


def messages(cluster: InMemoryCluster) -> list[str]:
    return [
        str(notice) for notice in cluster.notices() if "cannot start" in str(notice)
    ]


def test_a_pod_waits_while_its_volume_is_attached_to_another_node() -> None:
    cluster = cluster_of(claim("ReadWriteOnce"))
    assert (phase(cluster, "old"), phase(cluster, "new")) == ("Running", "Pending")
    [message] = messages(cluster)
    assert "still attached to n0, where default/old uses it" in message
    assert "(Multi-Attach)" in message


def test_the_pod_starts_when_the_pod_on_the_other_node_is_gone() -> None:
    cluster = cluster_of(claim("ReadWriteOnce"))
    cluster.delete(Pod, "default/old", grace_period_seconds=0.0)
    react(cluster)
    assert phase(cluster, "new") == "Running"
    assert messages(cluster) == []


@pytest.mark.parametrize("mode", ["ReadWriteMany", "ReadOnlyMany"])
def test_a_volume_for_many_nodes_keeps_no_pod_waiting(mode: str) -> None:
    cluster = cluster_of(claim("ReadWriteOnce", mode))
    assert phase(cluster, "new") == "Running"


def test_a_driver_that_attaches_nothing_keeps_no_pod_waiting() -> None:
    driver = CSIDriver(
        metadata=ObjectMeta(name=AT_ONCE.provisioner),
        spec=CSIDriverSpec(attach_required=False),
    )
    assert phase(cluster_of(claim("ReadWriteOnce"), driver), "new") == "Running"


def test_two_pods_on_one_node_share_the_volume() -> None:
    cluster = cluster_of(claim("ReadWriteOnce"))
    cluster.create(user("third"))
    cluster.bind(cluster.get(Pod, "default/third"), "n0")
    react(cluster)
    assert phase(cluster, "third") == "Running"


def test_a_pod_of_a_template_with_a_node_name_waits_for_its_late_claim() -> None:
    template = make_template()
    template = replace(template, spec=replace(template.spec, node_name="n0"))
    owner = make_stateful_set(2, template, claims=["data"])
    cluster = make_cluster(make_default_class("WaitForFirstConsumer"), owner, nodes=1)
    [pod] = cluster.list(Pod).items
    assert (pod.node_name, pod.spec.node_name, pod.status.phase) == (
        "n0",
        "",
        "Pending",
    )
    [message] = messages(cluster)
    assert "pods with spec.nodeName have no scheduler" in message
    assert "default/web-0 on n0" in message


def test_a_loaded_pod_with_a_node_name_and_a_late_claim_is_reported() -> None:
    pod = replace(user("p"), node_name="n0")
    late = make_storage_class()
    cluster = make_cluster(pod, late, claim("ReadWriteOnce"), nodes=1)
    [message] = messages(cluster)
    assert "default/p on n0" in message
