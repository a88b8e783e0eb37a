"""A proposed node can exist, and comes with what runs on every node like it."""

from collections.abc import Sequence

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.objects import CSIStorageCapacity
from quaymaster.simulation import ChangeKind, SuggestedChange, suggest_changes
from quaymaster.testing import (
    make_csi_storage_capacity,
    make_daemon_set,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
)

ZONE = "topology.kubernetes.io/zone"
TYPE = "node.kubernetes.io/instance-type"
FULL = {"cpu": "4", "pods": "9"}


def additions(*objects: ApiObject) -> list[SuggestedChange]:
    answer = suggest_changes("p", objects)
    return [each for each in answer.changes if each.kinds == (ChangeKind.ADD_NODE,)]


def new_objects(*objects: ApiObject) -> Sequence[ApiObject]:
    [change] = additions(*objects)
    return change.apply(objects)[len(objects) :]


def new_labels(*objects: ApiObject) -> dict[str, str]:
    [node] = [obj for obj in new_objects(*objects) if isinstance(obj, Node)]
    return dict(node.labels)


def filler(node: str) -> Pod:
    return make_pod(name=f"on-{node}", node=node, requests={"cpu": "4"})


def test_node_of_an_existing_machine_has_its_size() -> None:
    small = make_node(name="s", zone="z2", labels={TYPE: "s.large"}, allocatable=FULL)
    large = make_node(
        name="l", zone="z1", labels={TYPE: "l.large"}, allocatable={"cpu": "64"}
    )
    pod = make_pod(name="p", node_selector={TYPE: "l.large", ZONE: "z2"})
    [node] = [obj for obj in new_objects(small, large, pod) if isinstance(obj, Node)]
    assert (node.labels[TYPE], node.labels[ZONE]) == ("l.large", "z2")
    assert str(node.status.allocatable["cpu"]) == "64"


def test_node_of_an_unknown_machine_has_no_label_of_the_old_one() -> None:
    family = "karpenter.k8s.aws/instance-family"
    node = make_node(
        name="a",
        labels={TYPE: "m5.large", family: "m5", "karpenter.sh/nodepool": "general"},
    )
    pod = make_pod(name="p", node_selector={TYPE: "p5.48xlarge"})
    labels = new_labels(node, pod)
    assert labels[TYPE] == "p5.48xlarge"
    assert family not in labels
    assert "karpenter.sh/nodepool" not in labels


def test_node_of_another_price_is_of_no_old_group() -> None:
    node = make_node(
        name="a",
        labels={
            "eks.amazonaws.com/nodegroup": "general",
            "eks.amazonaws.com/capacityType": "ON_DEMAND",
            "karpenter.sh/nodepool": "default",
        },
    )
    pod = make_pod(name="p", node_selector={"karpenter.sh/capacity-type": "spot"})
    labels = new_labels(node, pod)
    assert labels["karpenter.sh/capacity-type"] == "spot"
    assert labels["karpenter.sh/nodepool"] == "default"
    assert not any(key.startswith("eks.amazonaws.com/") for key in labels)


def test_node_of_another_group_has_one_name_of_the_group() -> None:
    node = make_node(name="a", labels={"agentpool": "user", TYPE: "D4s"})
    pod = make_pod(name="p", node_selector={"kubernetes.azure.com/agentpool": "gpu"})
    labels = new_labels(node, pod)
    assert "agentpool" not in labels
    assert TYPE not in labels


def test_node_in_another_zone_has_the_place_of_that_zone() -> None:
    zone_id = "topology.k8s.aws/zone-id"
    here = make_node(name="a", zone="us-1a", region="us-1", labels={zone_id: "az1"})
    there = make_node(
        name="b",
        zone="us-1b",
        region="us-1",
        labels={zone_id: "az2"},
        taints=["team=x:NoSchedule"],
    )
    pod = make_pod(name="p", node_selector={ZONE: "us-1b"})
    labels = new_labels(here, there, pod)
    assert labels[zone_id] == "az2"
    pod = make_pod(name="p", node_selector={ZONE: "us-1c"})
    labels = new_labels(here, pod)
    assert zone_id not in labels
    assert labels["topology.kubernetes.io/region"] == "us-1"


def test_new_node_is_not_one_that_exists() -> None:
    labels = {"alpha.eksctl.io/instance-id": "i-1", "topology.topolvm.io/node": "a"}
    node = make_node(name="a", labels=labels, allocatable=FULL)
    pod = make_pod(name="p", requests={"cpu": "1"})
    new = new_labels(node, filler("a"), pod)
    assert "alpha.eksctl.io/instance-id" not in new
    assert new["topology.topolvm.io/node"] == new["kubernetes.io/hostname"] != "a"


def test_no_other_node_has_a_local_volume() -> None:
    key = "topology.topolvm.io/node"
    node = make_node(name="a", labels={key: "a"}, taints=["k:NoSchedule"])
    claim = make_persistent_volume_claim(name="data", volume="v")
    volume = make_persistent_volume(name="v", node_labels={key: "gone"}, claim=claim)
    pod = make_pod(name="p", claims=["data"], tolerations=["k"])
    assert additions(node, claim, volume, pod) == []


@pytest.mark.long
def test_pods_of_every_node_take_their_room_on_the_new_one() -> None:
    node = make_node(name="a", allocatable=FULL)
    agent = make_pod(
        name="agent-a",
        node="a",
        owner=make_daemon_set(name="agent"),
        requests={"cpu": "1"},
    )
    rest = make_pod(name="x", node="a", requests={"cpu": "3"})
    pod = make_pod(name="p", requests={"cpu": "3500m"})
    assert additions(node, agent, rest, pod) == []
    small = make_pod(name="p", requests={"cpu": "3"})
    [change] = additions(node, agent, rest, small)
    assert change.placed == 1


def test_static_pods_come_with_a_node() -> None:
    node = make_node(name="a", allocatable=FULL)
    static = make_pod(name="proxy-a", node="a", owner=node, requests={"cpu": "1"})
    rest = make_pod(name="x", node="a", requests={"cpu": "3"})
    pod = make_pod(name="p", requests={"cpu": "3500m"})
    assert additions(node, static, rest, pod) == []
    small = make_pod(name="p", requests={"cpu": "3"})
    [change] = additions(node, static, rest, small)
    assert change.placed == 1


def test_local_storage_comes_with_a_node() -> None:
    node = make_node(name="a", allocatable=FULL)
    capacity = make_csi_storage_capacity(
        capacity="5Gi", node_topology={"kubernetes.io/hostname": "a"}
    )
    pod = make_pod(name="p", requests={"cpu": "1"})
    objects = new_objects(node, capacity, filler("a"), pod)
    [copied] = [obj for obj in objects if isinstance(obj, CSIStorageCapacity)]
    topology = copied.node_topology
    assert topology is not None
    assert topology.match_labels == {"kubernetes.io/hostname": "a-more-1"}


def test_ordinary_pod_gets_a_node_of_the_usual_kind() -> None:
    arm = make_node(name="a", labels={"kubernetes.io/arch": "arm64"})
    gpu = make_node(name="b", allocatable={"nvidia.com/gpu": "8"})
    plain = [make_node(name=name) for name in "cd"]
    nodes = [
        make_node(
            name=node.name,
            labels={"kubernetes.io/arch": "amd64", **node.labels},
            allocatable={**FULL, **dict(node.status.allocatable)},
        )
        for node in (arm, gpu, *plain)
    ]
    pod = make_pod(name="p", requests={"cpu": "1"})
    [change] = additions(*nodes, *(filler(node.name) for node in nodes), pod)
    assert change.text == "add one node like c"
