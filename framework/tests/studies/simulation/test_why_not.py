"""Explanations why an attempt did not choose a node."""

import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import (
    JudgedNode,
    NodeFate,
    NodeNotFoundError,
    WhyNot,
    explain_pod,
)
from quaymaster.testing import make_node, make_pod

REGISTRY = PluginRegistry.discover()
BIG = make_node(name="big", capacity={"cpu": "8", "memory": "8Gi", "pods": "9"})
SMALL = make_node(
    name="small", capacity={"cpu": "1", "pods": "9"}, taints=["k=v:NoSchedule"]
)


def why(pod: str, node: str, *objects: ApiObject) -> WhyNot:
    explained = explain_pod(
        pod, objects, config=default_config(REGISTRY), registry=REGISTRY, why_not=node
    )
    judged = explained.attempts[-1].judged
    assert isinstance(judged, JudgedNode)
    assert judged.node == node
    assert explained.why_not is not None
    return explained.why_not


def test_every_plugin_that_rejects_the_node_is_listed() -> None:
    found = why("p", "small", BIG, SMALL, make_pod(name="p", requests={"cpu": "2"}))
    assert found.fate is NodeFate.REJECTED
    assert [
        (rejection.plugin, rejection.reasons) for rejection in found.rejections
    ] == [
        ("TaintToleration", ("node(s) had untolerated taint(s)",)),
        ("NodeResourcesFit", ("Insufficient cpu",)),
    ]
    assert found.preemption == ""


def test_a_feasible_node_is_compared_with_the_chosen_one() -> None:
    busy = make_pod(name="busy", node="other", requests={"cpu": "6"})
    other = make_node(name="other", capacity={"cpu": "8", "memory": "8Gi", "pods": "9"})
    found = why("p", "other", BIG, other, busy, make_pod(name="p"))
    assert found.fate is NodeFate.FEASIBLE
    assert found.scores is not None
    assert found.winner is not None
    assert (found.scores.node, found.winner.node) == ("other", "big")
    assert found.scores.total < found.winner.total


def test_the_chosen_node_is_marked_and_an_unknown_one_is_an_error() -> None:
    pod = make_pod(name="p")
    assert why("p", "big", BIG, SMALL, pod).fate is NodeFate.CHOSEN
    with pytest.raises(NodeNotFoundError, match="node 'nowhere': no such node"):
        why("p", "nowhere", BIG, SMALL, pod)


def test_a_node_left_out_by_pre_filter_is_rejected_by_that_plugin() -> None:
    pod = make_pod(name="p", node_affinity={"metadata.name": "big"})
    found = why("p", "small", BIG, SMALL, pod)
    assert found.fate is NodeFate.REJECTED
    assert "NodeAffinity" in {rejection.plugin for rejection in found.rejections}


def test_preemption_is_considered_where_it_could_help() -> None:
    equal = make_pod(name="equal", node="big", requests={"cpu": "7"})
    pod = make_pod(name="p", requests={"cpu": "7"})
    assert why("p", "big", BIG, SMALL, equal, pod).preemption == (
        "preemption: all pods there have priority 0, and this pod has 0, "
        "so none can be preempted"
    )
    expected = "it would not help if pods were preempted there"
    assert why("p", "small", BIG, SMALL, equal, pod).preemption == expected


def test_room_is_left_for_pods_that_are_nominated_to_the_node() -> None:
    vip = make_pod(name="vip", priority=9, requests={"cpu": "7"}, nominated_node="big")
    gone = make_pod(name="gone", node="big", requests={"cpu": "7"})
    found = why("p", "big", BIG, gone, vip, make_pod(name="p", requests={"cpu": "2"}))
    assert found.fate is NodeFate.REJECTED
