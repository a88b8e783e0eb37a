"""Questions about pending pods: the advice that maintainers give comes first."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app

CASES = Path(__file__).parent


def advice(pod: str, path: str) -> dict[str, Any]:
    words = ["explain", pod, str(CASES / path), "--suggest", "-o", "json"]
    result = CliRunner().invoke(app, words)
    suggestions: dict[str, Any] = json.loads(result.stdout)["suggestions"]
    return suggestions


@pytest.mark.long
@pytest.mark.parametrize(
    ("pod", "path"),
    [
        ("deploy/web", "01-control-plane-taint/input.yaml"),
        ("proxy-redis-4", "30-cordoned-node-in-spread/ignore.yaml"),
    ],
)
def test_nodes_that_a_pod_does_not_tolerate_are_not_counted(
    pod: str, path: str
) -> None:
    first = advice(pod, path)["changes"][0]
    assert first["kinds"] == ["taints-policy"]
    [field] = first["fields"]
    assert (field["old"], field["new"]) == ("", "Honor")
    assert field["path"].endswith("topologySpreadConstraints[0].nodeTaintsPolicy")


@pytest.mark.long
def test_taint_of_the_control_plane_is_not_tolerated() -> None:
    changes = advice("deploy/web", "01-control-plane-taint/input.yaml")["changes"]
    assert ["toleration"] not in [change["kinds"] for change in changes]


@pytest.mark.long
def test_agent_of_equal_priority_needs_a_priority_class() -> None:
    answer = advice("ds/node-agent", "07-daemonset-equal-priority/input.yaml")
    assert answer["remarks"] == [
        "all running pods have priority 0, this one has 0: none can be preempted"
    ]
    [change] = answer["changes"]
    assert change["kinds"] == ["priority"]
    assert change["fields"][0]["new"] == "system-node-critical"


@pytest.mark.long
def test_zone_of_the_volume_is_named_and_a_node_there_is_offered() -> None:
    answer = advice("sts/db", "14-volume-zone-and-terms/input.yaml")
    [remark] = answer["remarks"]
    assert remark.startswith("claim data-db-0 is volume pv-c, which needs a node with ")
    assert remark.endswith("topology.ebs.csi.aws.com/zone=us-c")
    assert not any(change["command"] for change in answer["changes"])
    assert answer["changes"][-1]["text"] == (
        "add one node like od-b, with topology.ebs.csi.aws.com/zone=us-c"
    )


@pytest.mark.long
def test_resource_of_no_node_is_named() -> None:
    answer = advice("hp", "22-hugepages/input.yaml")
    assert answer["remarks"] == ["no node offers hugepages-2Mi"]


@pytest.mark.long
def test_two_more_nodes_are_found_and_plan_is_named() -> None:
    answer = advice("deploy/tiny", "37-max-pods-and-daemonsets/input.yaml")
    text = answer["changes"][-1]["text"]
    assert text.startswith("add 2 nodes like t3s")
    assert text.endswith("'quaymaster plan' looks for the cheapest nodes")


@pytest.mark.long
def test_pod_without_its_gates_would_stay_pending() -> None:
    answer = advice("gated", "40-gates-opened/input.yaml")
    assert answer["remarks"][0].startswith(
        "without its gates it stays pending: 0/2 nodes are available: 1 Insuff"
    )
    assert all(change["kinds"][0] == "gates" for change in answer["changes"])
