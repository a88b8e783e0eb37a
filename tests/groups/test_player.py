"""The player of recordings: steps in, the state of the cluster out."""

from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.objects import PodGroup
from tests.groups.player import Player

OFF: dict[str, Any] = {"gates": {"GenericWorkload": False}}
ON: dict[str, Any] = {"gates": {"GenericWorkload": True}}


def node(name: str, cpu: str = "2") -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "4Gi", "pods": "10"}
    status = {"capacity": amounts, "allocatable": amounts}
    tree = {"metadata": {"name": name}, "spec": {}, "status": status}
    return {"create": {"apiVersion": "v1", "kind": "Node", **tree}}


def pod(name: str, cpu: str = "1", **spec: object) -> dict[str, Any]:
    requests = {"requests": {"cpu": cpu}}
    container = {"name": "c", "image": "i", "resources": requests}
    whole = {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}
    tree = {"metadata": {"name": name}, "spec": whole}
    return {"create": {"apiVersion": "v1", "kind": "Pod", **tree}}


def group(name: str) -> dict[str, Any]:
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    version = "scheduling.k8s.io/v1beta1"
    tree = {"kind": "PodGroup", "metadata": {"name": name}, "spec": spec}
    return {"create": {"apiVersion": version, **tree}}


def delete(kind: str, name: str) -> dict[str, Any]:
    return {"delete": {"kind": kind, "name": name}}


@pytest.fixture
def player() -> Player:
    player = Player(OFF)
    player.play({"ops": [node("node-0"), node("node-1")]})
    return player


def test_step_shows_the_nodes_of_pods_and_starts_them(player: Player) -> None:
    state = player.play({"ops": [pod("a"), pod("b", cpu="2")]})
    assert state["Pod"] == {"a": {"node": "node-0"}, "b": {"node": "node-1"}}
    phases = {p.name: p.status for p in player.cluster.list(Pod).items}
    assert [phases[name].phase for name in "ab"] == ["Running", "Running"]
    start, later = (phases[name].start_time for name in "ab")
    assert start is not None
    assert later == start + 1


def test_pod_that_fits_nowhere_has_a_condition_and_an_event(player: Player) -> None:
    state = player.play({"ops": [pod("a", cpu="3")]})
    text = state["Pod"]["a"]["conditions"]["PodScheduled"][2]
    assert text.startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert state["events"] == [["Pod", "a", "FailedScheduling", text]]
    assert player.play({"ops": []})["events"] == []


def test_deleted_pods_are_gone_in_their_step_only(player: Player) -> None:
    player.play({"ops": [pod("a"), pod("b")]})
    assert player.play({"ops": [delete("Pod", "a")]})["gone"] == ["a"]
    assert player.play({"ops": [pod("a")]})["gone"] == []


def test_refused_change_leaves_the_cluster_as_it_is(player: Player) -> None:
    player.play({"ops": [pod("a")]})
    state = player.play({"ops": [pod("a", cpu="2"), delete("Pod", "none")]})
    assert state["Pod"] == {"a": {"node": "node-0"}}


def test_deleted_group_stays_until_its_last_pod_is_gone() -> None:
    player = Player(ON)
    spec: dict[str, Any] = {"schedulingGates": [{"name": "example.com/hold"}]}
    member = pod("a", schedulingGroup={"podGroupName": "g"}, **spec)
    player.play({"ops": [group("g"), member]})
    state = player.play({"ops": [delete("PodGroup", "g")]})
    assert state["PodGroup"] == {"g": {"deleting": True}}
    assert player.cluster.get(PodGroup, "default/g").min_count == 2
    assert player.play({"ops": [delete("Pod", "a")]})["PodGroup"] == {}


def test_waiting_pod_is_tried_while_a_new_node_is_not_ready(player: Player) -> None:
    player.play({"ops": [pod("a", cpu="3")]})
    state = player.play({"ops": [node("node-2", cpu="4"), node("node-3", cpu="8")]})
    assert state["Pod"] == {"a": {"node": "node-2"}}
    ((*_, note),) = state["events"]
    assert "1 node(s) had untolerated taint(s)" in note
