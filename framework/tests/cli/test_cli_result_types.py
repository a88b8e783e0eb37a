"""What commands print as JSON has exactly the keys of the documented types."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app
from tests.kit.results import checked_result

PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
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
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: vip}
spec:
  priorityClassName: high
  priority: 1000
  nodeSelector: {kubernetes.io/hostname: node-000}
  containers:
  - {name: main, image: nginx, resources: {requests: {cpu: 3}}}
"""
SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
name: short
input: {nodes: ["2:cpu=4,memory=8Gi,zones=2"], files: [pods.yaml]}
steps:
- {name: drain, drain: {nodes: node-000}}
assertions:
- {name: all are placed, placed: {by: 5m}}
"""
AUTOSCALER = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: ClusterAutoscaler
groups:
- {name: small, max: 9, nodes: {kubernetes.io/os: linux}, price: 0.5}
"""
NODES = ("--nodes", "2:cpu=4,memory=8Gi,zones=2")
GROUP = ("--node-group", "name=small,cpu=4,memory=8Gi,price=0.4")
COMMANDS = {
    "where pods go": ("simulate", "pods.yaml", *NODES),
    "where pods go, with room and times": (
        *("simulate", "pods.yaml", *NODES, "--capacity", "--timings"),
    ),
    "why one node was not chosen": (
        *("explain", "large", "pods.yaml", *NODES, "--why-not", "node-000"),
    ),
    "what places a pod": ("explain", "large", "pods.yaml", *NODES, "--suggest"),
    "why a pod has its node": ("explain", "vip", "pods.yaml", *NODES),
    "free room": (
        *("capacity", "pods.yaml", *NODES, "--pod", "cpu=1", "--by", "zone"),
    ),
    "a plan for some pods": ("plan", "pods.yaml", *GROUP),
    "a drain": ("what-if", "pods.yaml", *NODES, "--drain", "node-000"),
    "nodes that come": (
        *("simulate", "pods.yaml", *NODES, "--autoscaler", "autoscaler.yaml"),
    ),
    "a pod and an autoscaler": (
        *("explain", "large", "pods.yaml", *NODES, "--autoscaler", "autoscaler.yaml"),
    ),
    "nodes that go": (
        *("consolidate", "pods.yaml", *NODES, "--autoscaler", "autoscaler.yaml"),
    ),
    "configurations": ("compare", "default", "bin-packing", "pods.yaml", *NODES),
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pods.yaml").write_text(PODS, encoding="utf-8")
    Path("short.yaml").write_text(SCENARIO, encoding="utf-8")
    Path("autoscaler.yaml").write_text(AUTOSCALER, encoding="utf-8")


def printed(*arguments: str) -> Any:  # noqa: ANN401 - JSON has any form
    result = CliRunner().invoke(app, (*arguments, "-o", "json"))
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_results_have_their_type(arguments: tuple[str, ...]) -> None:
    checked_result(arguments[0], printed(*arguments))


@pytest.mark.long
@pytest.mark.parametrize("more", [(), ("--suggest",)], ids=["causes", "changes"])
def test_all_pending_pods_have_their_type(more: tuple[str, ...]) -> None:
    document = printed("explain", "--all-pending", "pods.yaml", *NODES, *more)
    assert checked_result("explain-pending", document).groups


@pytest.mark.long
def test_compared_versions_and_seeds_have_their_type() -> None:
    versions = ("--kubernetes", "1.36", "--kubernetes", "1.37", "--seeds", "2")
    document = printed("compare", "default", "pods.yaml", *NODES, *versions)
    assert checked_result("compare", document).changes


def test_scenarios_have_their_type() -> None:
    [result] = checked_result("scenario", printed("scenario", "run", "short.yaml"))
    assert result.steps[0].evicted


def test_replays_have_their_type() -> None:
    record = ("--record", "record.jsonl")
    printed("simulate", "pods.yaml", *NODES, *record)
    other = ("replay", "record.jsonl", "--config", "bin-packing")
    assert checked_result("replay", printed(*other)).decisions
    assert checked_result("replay-what-if", printed(*other, "--what-if")).placements


def test_list_of_plugins_has_its_type() -> None:
    assert checked_result("plugins-list", printed("plugins", "list"))


@pytest.mark.parametrize("plugin", ["NodeResourcesFit", "DefaultBinder"])
def test_plugins_have_their_type(plugin: str) -> None:
    assert checked_result("plugins-show", printed("plugins", "show", plugin)).hooks


def objects(document: object) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        yield document
        for value in document.values():
            yield from objects(value)
    elif isinstance(document, list):
        for value in document:
            yield from objects(value)


def test_no_key_may_be_missing_and_no_other_may_be_there() -> None:
    document = printed("simulate", "pods.yaml", *NODES)
    for part in list(objects(document)):
        for key, value in list(part.items()):
            del part[key]
            with pytest.raises(msgspec.ValidationError, match="missing required"):
                checked_result("simulate", document)
            part[key] = value
        part["other"] = 1
        with pytest.raises(msgspec.ValidationError, match="unknown field"):
            checked_result("simulate", document)
        del part["other"]
