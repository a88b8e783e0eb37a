"""``explain --autoscaler``: pods that wait for nodes, and nodes that stay."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app
from tests.kit.results import checked_result

NODES = "2:name=small,cpu=4,memory=8Gi,label:eks.amazonaws.com/nodegroup=small"
PODS = """
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: a, image: b, resources: {requests: {cpu: 9}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: batch}
spec:
  nodeName: small-000
  containers: [{name: a, image: b, resources: {requests: {cpu: 1}}}]
"""
AUTOSCALER = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: ClusterAutoscaler
flags: [--scale-down-unneeded-time=20s, --scale-down-unready-time=20s,
        --scale-down-delay-after-add=0s, --unremovable-node-recheck-timeout=20s]
groups:
- {name: small, max: 3, price: 0.1}
- {name: huge, max: 1, resources: {cpu: 16, memory: 8Gi}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pods.yaml").write_text(PODS, encoding="utf-8")
    Path("autoscaler.yaml").write_text(AUTOSCALER, encoding="utf-8")


def explain(*arguments: str) -> Result:
    command = ("explain", *arguments, "pods.yaml", "--nodes", NODES)
    return CliRunner().invoke(app, (*command, "--autoscaler", "autoscaler.yaml"))


@pytest.mark.long
def test_pod_has_a_verdict_of_each_group() -> None:
    table = explain("large").stdout.rpartition("autoscaler: ")[2]
    summary, _, _, small, huge = table.rstrip().splitlines()
    assert summary.startswith("huge grows from 0 to 1 node (at 10.")
    assert small.split()[:5] == ["small", "rejected", "-", "-", "NodeResourcesFit"]
    assert huge.split() == ["huge", "grows", "1", "-", "-", "for", "1", "pod"]


def test_node_has_its_facts_and_pods() -> None:
    output = explain("node/small-000").stdout
    assert "small-000 stays" in output
    assert "default/batch   blocks   no controller would create it again" in output


def test_node_as_json_has_its_type() -> None:
    document = json.loads(explain("no/small-001", "-o", "json").stdout)
    checked_result("explain-node", document)
    assert document["removed"] is not None
    assert document["why"] == "empty"


def test_pods_of_a_node_as_csv() -> None:
    lines = explain("node/small-000", "-o", "csv").stdout.splitlines()
    assert lines == [
        "pod,fate,why",
        "default/batch,blocks,no controller would create it again",
    ]


def test_unknown_node_has_a_similar_name() -> None:
    result = explain("node/small-00")
    assert "no such node; did you mean small-00" in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("large", "--suggest"), "--suggest tries changes without --autoscaler"),
        (("large", "-o", "csv"), "--autoscaler cannot be printed by -o csv"),
        (("large,batch",), "--autoscaler needs exactly one POD"),
        (("--all-pending",), "--autoscaler needs exactly one POD"),
        (("podgroup/train",), "--autoscaler needs a pod or a node, not a PodGroup"),
        (("node/small-000", "--unbind"), "--unbind needs a pod, not a node"),
    ],
    ids=lambda value: "" if isinstance(value, str) else " ".join(value),
)
def test_options_that_do_not_go_together_are_reported(
    arguments: tuple[str, ...], problem: str
) -> None:
    result = explain(*arguments)
    assert result.exit_code == 2
    assert problem in result.stderr


def test_node_needs_an_autoscaler() -> None:
    result = CliRunner().invoke(app, ("explain", "node/small-000", "pods.yaml"))
    assert "a node is explained with --autoscaler only" in result.stderr
