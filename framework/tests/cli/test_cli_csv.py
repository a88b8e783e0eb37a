"""``-o csv``: a header with the keys of JSON, and a line for each row."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app

PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: nginx, resources: {requests: {cpu: 1500m, memory: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec:
  containers:
  - {name: main, image: nginx, resources: {requests: {cpu: 9}}}
"""
SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
name: short
input: {nodes: ["1:cpu=4,memory=8Gi"], files: [pods.yaml]}
assertions:
- {name: all are placed, placed: {by: 5m}}
"""
NODES = ("--nodes", "2:cpu=4,memory=8Gi,zones=2")


@pytest.fixture(autouse=True)
def pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pods.yaml").write_text(PODS, encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def rows(*arguments: str) -> list[dict[str, str]]:
    result = run(*arguments, "-o", "csv")
    assert result.exit_code in (0, 1), result.output
    return list(csv.DictReader(result.stdout.splitlines()))


def test_simulate_has_a_row_for_each_pod() -> None:
    placed, _, left = rows("simulate", "pods.yaml", *NODES)
    assert list(placed)[:2] == ["pod", "node"]
    assert (placed["node"], placed["attempts"]) == ("node-001", "1")
    assert (placed["message"], placed["finished"]) == ("", "")
    assert (left["pod"], left["node"]) == ("default/large", "")
    assert left["reasons"] == "Insufficient cpu"
    assert left["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_keys_are_those_of_json() -> None:
    document = json.loads(run("simulate", "pods.yaml", *NODES, "-o", "json").stdout)
    keys = {*document["placements"][0], *document["unscheduled"][0]}
    assert set(rows("simulate", "pods.yaml", *NODES)[0]) == keys


def test_result_without_rows_has_a_header() -> None:
    Path("pods.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
    text = run("simulate", "pods.yaml", *NODES, "-o", "csv").stdout
    assert text.startswith("pod,node,")
    assert text.count("\n") == 1


def test_capacity_has_a_row_for_each_node_and_a_column_for_each_figure() -> None:
    first, _ = rows("capacity", "pods.yaml", *NODES)
    assert first["node"] == "node-000"
    assert first["labels.topology.kubernetes.io/zone"] == "zone-a"
    assert first["resources.cpu.allocatable"] == "4000"
    assert first["resources.cpu.requested"] == "1500"
    assert first["pricePerHour"] == ""
    assert not any(name.startswith("fits") for name in first)


def test_capacity_has_a_column_for_each_pod_that_it_tries() -> None:
    found = rows("capacity", "pods.yaml", *NODES, "--pod", "cpu=1")
    assert [row["fits.cpu=1"] for row in found] == ["2", "2"]


@pytest.mark.long
def test_plan_has_a_row_for_each_group() -> None:
    group = ("--node-group", "name=big,cpu=16,memory=64Gi,price=0.4")
    [row] = rows("plan", "pods.yaml", *group)
    assert (row["name"], row["nodes"], row["cost"]) == ("big", "1", "0.4")
    assert row["utilization.cpu.share"] == "0.75"


def test_plan_for_some_pods_has_rows_of_nodes_and_the_reason_on_stderr() -> None:
    group = ("--node-group", "name=small,cpu=4,memory=8Gi")
    result = run("plan", "pods.yaml", *group, "-o", "csv")
    [row] = csv.DictReader(result.stdout.splitlines())
    assert (row["name"], row["nodes"]) == ("small", "1")
    assert "no plan" in result.stderr
    assert result.exit_code == 1


def test_what_if_has_a_row_for_each_event() -> None:
    found = rows("what-if", "pods.yaml", *NODES, "--drain", "node-000")
    columns = ["change", "what", "pod", "from", "to", "was", "why"]
    assert list(found[0]) == columns
    moved = next(row for row in found if row["what"] == "moved")
    assert (moved["from"], moved["to"]) == ("node-000", "node-001")


@pytest.mark.long
def test_what_if_lists_all_pods_that_a_table_sums_up() -> None:
    arguments = ("what-if", "pods.yaml", "--scale", "deploy/web=40")
    nodes = ("--nodes", "40:cpu=4,memory=8Gi")
    found = rows(*arguments, *nodes)
    assert sum(row["what"] == "placed" for row in found) == 38
    assert " more of " in run(*arguments, *nodes).stdout


def test_scenario_has_a_row_for_each_assertion() -> None:
    Path("short.yaml").write_text(SCENARIO, encoding="utf-8")
    [row] = rows("scenario", "run", "short.yaml")
    assert (row["scenario"], row["file"]) == ("short", "short.yaml")
    assert (row["passed"], row["objects"]) == ("false", "default/large")


def test_explain_has_a_row_for_each_node() -> None:
    first, _ = rows("explain", "deploy/web", "pods.yaml", *NODES)
    assert first["node"] == "node-001"
    assert int(first["plugins.NodeResourcesFit.weighted"]) <= int(first["total"])
    rejected = rows("explain", "large", "pods.yaml", *NODES)
    assert [row["reasons"] for row in rejected] == ["Insufficient cpu"] * 2
    assert rejected[0]["attempt"] == "2"


def test_pending_pods_are_rows_with_their_causes_as_json() -> None:
    [row] = rows("explain", "--all-pending", "pods.yaml", *NODES)
    assert row["pods"] == "default/large"
    assert json.loads(row["causes"])[0]["plugin"] == "NodeResourcesFit"


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "pods.yaml", "--timings"),
        ("simulate", "pods.yaml", "--capacity"),
        ("explain", "large", "pods.yaml", "--suggest"),
        ("explain", "large", "pods.yaml", "--why-not", "node-000"),
    ],
    ids=["timings", "capacity", "suggest", "why-not"],
)
def test_what_has_no_rows_of_its_own_is_refused(arguments: tuple[str, ...]) -> None:
    result = run(*arguments, *NODES, "-o", "csv")
    assert result.exit_code == 2
    assert "cannot be printed by -o csv" in result.stderr


def test_plugins_and_kinds_are_rows() -> None:
    by_name = {row["name"]: row for row in rows("plugins", "list")}
    fit = by_name["NodeResourcesFit"]
    assert fit["distribution"] == "quaymaster-node-resources-fit"
    assert "filter" in fit["extensionPoints"].split(";")
    text = run("plugins", "kinds", "-o", "csv").stdout
    assert text.startswith("kind,apiVersion,plugin,distribution\n")


def test_replay_has_a_row_for_each_decision() -> None:
    result = run("simulate", "pods.yaml", *NODES, "--record", "run.jsonl.gz")
    assert result.exit_code == 0, result.output
    decisions = rows("replay", "run.jsonl.gz")
    first = decisions[0]
    assert first["agreement"] == "same"
    assert first["ours.node"] == first["theirs.node"]
    assert list(first)[:4] == ["pod", "scheduler", "at", "agreement"]
