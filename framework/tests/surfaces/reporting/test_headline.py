"""The headline of a report, and what pending pods need."""

from collections.abc import Sequence

import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.reporting import report
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import observe
from quaymaster.testing import make_node, make_pod
from tests.kit.report_pages import shown_by

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
POOL = "karpenter.sh/nodepool"
GENERAL = make_node(name="a", capacity={"cpu": "2", "pods": "10"}, labels={POOL: "g"})
DATA = make_node(name="b", capacity={"cpu": "8", "pods": "10"}, labels={POOL: "d"})


def shown(*objects: ApiObject) -> dict[str, object]:
    run = observe(objects, config=CONFIG, registry=REGISTRY)
    [document] = shown_by(report(run))["runs"]
    found: dict[str, object] = document
    return found


def headline(*objects: ApiObject) -> Sequence[str]:
    found = shown(*objects)["headline"]
    assert isinstance(found, list)
    return found


@pytest.mark.long
def test_cluster_without_pending_pods_has_its_free_part() -> None:
    pod = make_pod(name="p", requests={"cpu": "1"})
    assert headline(GENERAL, pod) == [
        "No pod is pending",
        "50% CPU free on nodes that accept pods",
    ]


@pytest.mark.long
def test_pods_need_a_resource_where_they_may_run() -> None:
    pods = [
        make_pod(name=f"p{n}", requests={"cpu": "1"}, node_selector={POOL: "g"})
        for n in range(5)
    ]
    assert headline(GENERAL, DATA, *pods) == [
        "3 pods pending: 3 need CPU in pool g",
        "80% CPU free on nodes that accept pods, 0% where these pods may run",
    ]


@pytest.mark.long
def test_nodes_that_accept_no_pods_are_counted_by_reason() -> None:
    shut = [make_node(name=f"s{n}", unschedulable=True) for n in range(2)]
    assert headline(GENERAL, *shut)[1] == "2 nodes cordoned"


@pytest.mark.long
@pytest.mark.parametrize(
    ("pod", "words"),
    [
        (
            make_pod(requests={"cpu": "64"}),
            "1 requests more CPU than a node offers",
        ),
        (make_pod(node_selector={POOL: "x"}), "1 matches no node that accepts pods"),
        (make_pod(scheduling_gates=["wait"]), "1 has scheduling gates"),
        (
            make_pod(requests={"example.com/gpu": "1"}),
            "1 requests more example.com/gpu than a node offers",
        ),
    ],
)
def test_other_needs_have_their_own_words(pod: ApiObject, words: str) -> None:
    gpu = make_node(name="gpu", capacity={"example.com/gpu": "4"}, unschedulable=True)
    [first, *_] = headline(GENERAL, DATA, gpu, pod)
    assert first == f"1 pod pending: {words}"


@pytest.mark.long
def test_nodes_that_are_too_small_are_not_where_a_pod_may_run() -> None:
    filler = make_pod(name="filler", node="b", requests={"cpu": "8"})
    found = shown(GENERAL, DATA, filler, make_pod(name="p", requests={"cpu": "4"}))
    needs = found["needs"]
    assert isinstance(needs, list)
    assert [(need["words"], need["nodes"]) for need in needs] == [
        ("1 needs CPU in pool d", [1])
    ]
