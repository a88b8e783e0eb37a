"""``capacity --sort-by`` and ``--top``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app

PODS = """
apiVersion: v1
kind: Pod
metadata: {name: large}
spec:
  nodeName: node-010
  containers:
  - {name: main, image: nginx, resources: {requests: {cpu: 3}}}
---
apiVersion: v1
kind: Pod
metadata: {name: small}
spec:
  nodeName: node-2
  containers:
  - {name: main, image: nginx, resources: {requests: {cpu: 1, memory: 6Gi}}}
---
apiVersion: v1
kind: Node
metadata:
  name: node-2
  annotations: {simulation.quaymaster.io/price-per-hour: "0.5"}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10, example.com/gpu: 2}}
"""
NODES = ("--nodes", "11:cpu=4,memory=8Gi")


@pytest.fixture(autouse=True)
def pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pods.yaml").write_text(PODS, encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["capacity", "pods.yaml", *NODES, *arguments])


def nodes(*arguments: str) -> list[str]:
    result = run(*arguments, "-o", "json")
    assert result.exit_code == 0, result.output
    return [node["node"] for node in json.loads(result.stdout)["nodes"]]


def test_nodes_are_in_natural_order() -> None:
    found = nodes()
    assert found[:4] == ["node-000", "node-001", "node-002", "node-2"]
    assert found[-1] == "node-010"


@pytest.mark.parametrize(
    ("key", "first"),
    [
        ("cpu", "node-010"),
        ("memory", "node-2"),
        ("memory.requested", "node-2"),
        ("memory.free", "node-000"),
        ("cpu.utilization", "node-010"),
        ("example.com/gpu.allocatable", "node-2"),
        ("price", "node-2"),
    ],
)
def test_largest_figure_is_first(key: str, first: str) -> None:
    assert nodes("--sort-by", key)[0] == first


def test_nodes_with_equal_figures_are_in_the_order_of_their_names() -> None:
    found = nodes("--sort-by", "cpu")
    assert found[:4] == ["node-010", "node-2", "node-000", "node-001"]


def test_top_shows_the_first_nodes_and_counts_the_others() -> None:
    assert nodes("--sort-by", "cpu", "--top", "2") == ["node-010", "node-2"]
    text = run("--sort-by", "cpu", "--top", "2").stdout
    assert "and 10 more nodes\n" in text
    assert "2 pods on 12 nodes" in text
    assert len(nodes("--top", "0")) == len(nodes("--top", "99")) == 12


@pytest.mark.parametrize("key", ["cpus", "cpu.fre", "", "free"])
def test_figure_that_no_node_has_is_refused(key: str) -> None:
    result = run("--sort-by", key)
    assert result.exit_code == 2
    assert "expected name, price, cpu, memory" in result.stderr.replace("\n", " ")


def test_refusal_names_what_is_similar() -> None:
    assert "did you mean 'cpu'?" in run("--sort-by", "cpuu").stderr
