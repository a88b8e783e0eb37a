"""The page of a report, as a file; in a browser it is tested in `tests/browser`."""

import re
from typing import Any

import attrs
import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.config import default_config
from quaymaster.reporting import ReportTable, report
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import ObservedRun, observe
from quaymaster.testing import make_node, make_pod
from tests.kit.report_pages import shown_by

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)


def run_of(*objects: Node | Pod, name: str = "") -> ObservedRun:
    return observe(objects, config=CONFIG, registry=REGISTRY, name=name)


def coded(column: dict[str, Any]) -> list[str]:
    return [column["values"][code] for code in column["codes"]]


NODE = make_node(
    name="n",
    capacity={"cpu": "2", "memory": "4Gi", "pods": "10", "example.com/gpu": "4"},
    labels={"topology.kubernetes.io/zone": "a"},
)
PODS = (
    make_pod(name="one", requests={"cpu": "500m", "example.com/gpu": "1"}),
    make_pod(name="two", requests={"cpu": "1", "memory": "1Gi"}),
    make_pod(name="huge", requests={"cpu": "64"}),
)


@pytest.mark.long
def test_nodes_have_the_sums_of_the_scheduler() -> None:
    [run] = shown_by(report(run_of(NODE, *PODS)))["runs"]
    assert run["resources"] == ["cpu", "memory", "example.com/gpu", "pods"]
    assert run["nodes"]["requested"] == [[1500], [2**30], [1], [2]]
    assert run["nodes"]["allocatable"] == [[2000], [4 * 2**30], [4], [10]]
    assert coded(run["nodes"]["labels"]["topology.kubernetes.io/zone"]) == ["a"]


@pytest.mark.long
def test_pods_have_their_node_or_the_reason_why_they_wait() -> None:
    [run] = shown_by(report(run_of(NODE, *PODS)))["runs"]
    pods = run["pods"]
    rows = dict(zip(pods["name"], range(3), strict=True))
    assert pods["node"][rows["one"]] == 0
    assert pods["node"][rows["huge"]] == -1
    assert coded(pods["state"])[rows["huge"]] == "pending"
    assert coded(pods["cause"])[rows["huge"]] == "Insufficient cpu"
    assert coded(pods["message"])[rows["huge"]].startswith("0/1 nodes are available")


@pytest.mark.long
def test_attempts_carry_the_scores_of_every_plugin() -> None:
    other = make_node(name="m", capacity={"cpu": "4"})
    [run] = shown_by(report(run_of(NODE, other, PODS[1])))["runs"]
    [attempt] = run["attempts"]
    assert attempt["pod"] == "default/two"
    assert attempt["scores"][0][0] == attempt["node"]
    for _, total, values in attempt["scores"]:
        assert total == sum(weighted for _, _, weighted in values)


@pytest.mark.long
def test_the_same_runs_make_the_same_page() -> None:
    assert report(run_of(NODE, *PODS)) == report(run_of(NODE, *PODS))


@pytest.mark.long
def test_text_of_the_input_is_escaped_in_the_page() -> None:
    evil = "</script><script>alert(1)</script>"
    metadata = replace(NODE.metadata, labels={"team": evil})
    run = run_of(NODE, make_pod(annotations={"team": evil}))
    page = report(
        attrs.evolve(run, nodes=[replace(NODE, metadata=metadata)], name=evil),
        title=evil,
    )
    assert evil not in page
    assert shown_by(page)["runs"][0]["nodes"]["labels"]["team"]["values"] == [evil]


@pytest.mark.long
def test_the_page_allows_itself_no_network() -> None:
    page = report(run_of(NODE))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert not re.search(r"<(?:link|img|iframe)|<script[^>]* src=", page[:20000])


@pytest.mark.long
def test_other_tables_are_shown_as_they_are_given() -> None:
    table = ReportTable(title="Cost", columns=("Shape", "EUR"), rows=(("m5", 3.5),))
    [shown] = shown_by(report(tables=[table]))["tables"]
    assert shown == {
        "title": "Cost",
        "columns": ["Shape", "EUR"],
        "rows": [["m5", 3.5]],
        "failed": [],
        "last": False,
    }


@pytest.mark.long
def test_several_runs_keep_their_names() -> None:
    page = report(run_of(NODE, name="old"), run_of(NODE, *PODS, name="new"))
    assert [run["name"] for run in shown_by(page)["runs"]] == ["old", "new"]


@pytest.mark.long
@pytest.mark.parametrize("count", [0, 1])
def test_an_empty_cluster_has_a_page(count: int) -> None:
    [run] = shown_by(report(run_of(*PODS[:count])))["runs"]
    assert run["nodes"]["name"] == []
    assert len(run["pods"]["name"]) == count
