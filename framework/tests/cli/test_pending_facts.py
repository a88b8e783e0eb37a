"""Commands print the facts behind the messages of pending pods, each once."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app

CLUSTER = """
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
      - {name: main, image: nginx, resources: {requests: {cpu: "3"}}}
---
apiVersion: v1
kind: Pod
metadata: {name: cache}
spec:
  nodeSelector: {disk: ssd}
  containers: [{name: main, image: redis}]
"""
NODES = ("--nodes", "1:cpu=4,memory=8Gi,name=n")
FREE = "Insufficient cpu (n-000): wants cpu 3; free cpu 1 of 4"
SELECTOR = (
    "node(s) didn't match Pod's node affinity/selector (n-000): "
    "node selector needs disk=ssd; no label disk here"
)


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(CLUSTER)


def run(command: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, [command, "web.yaml", *NODES, *arguments])


def test_simulate_prints_each_fact_once_with_its_pods() -> None:
    lines = run("simulate", "--facts").stdout.splitlines()
    where = lines.index("facts, from the first node with each reason:")
    assert lines[where + 1].startswith("  2 pods, such as default/web-")
    assert lines[where + 1].endswith(FREE)
    assert f"  default/cache: {SELECTOR}" in lines
    assert sum(FREE in line for line in lines) == 1


def test_facts_are_not_computed_unless_requested() -> None:
    document = json.loads(run("simulate", "-o", "json").stdout)
    assert [pod["facts"] for pod in document["unscheduled"]] == [[], [], []]
    assert "facts" not in run("simulate").stdout


def test_facts_leave_the_message_as_it_is() -> None:
    without = json.loads(run("simulate", "-o", "json").stdout)["unscheduled"]
    documents = json.loads(run("simulate", "--facts", "-o", "json").stdout)
    pods = documents["unscheduled"]
    assert [pod["message"] for pod in pods] == [pod["message"] for pod in without]
    assert pods[0]["facts"] == [SELECTOR]
    assert FREE in pods[1]["facts"]


def test_what_if_has_the_facts_of_the_state_after_each_change() -> None:
    result = run("what-if", "--facts", "--scale", "deploy/web=1", "-o", "json")
    document = json.loads(result.stdout)
    [before] = [pod for pod in document["before"]["pending"] if "cache" in pod["pod"]]
    assert before["facts"] == [SELECTOR]
    assert [pod["pod"] for pod in document["after"]["pending"]] == ["default/cache"]


def test_what_if_prints_facts_of_new_pending_pods() -> None:
    result = run("what-if", "--facts", "--scale", "deploy/web=5")
    assert f"such as default/web-6ff54b9c9d-52pjr: {FREE}" in result.stdout or (
        FREE in result.stdout
    )
    assert FREE not in run("what-if", "--scale", "deploy/web=5").stdout


def test_the_summary_of_pending_pods_has_facts_of_each_workload() -> None:
    result = run("explain", "--all-pending", "-o", "json")
    web, cache = json.loads(result.stdout)["groups"]
    assert FREE in web["facts"]
    assert cache["facts"] == [SELECTOR]
    lines = run("explain", "--all-pending").stdout.splitlines()
    assert f"  default/deployment/web (2 pods): {FREE}" in lines
    assert f"  default/pod/cache: {SELECTOR}" in lines


def test_pods_that_fit_nowhere_have_the_facts_of_preemption() -> None:
    document = json.loads(run("explain", "--all-pending", "-o", "json").stdout)
    [web, _] = document["groups"]
    have = "all pods there have priority 0, and this pod has 0"
    assert web["facts"][1:] == [f"preemption: {have}, so none can be preempted (n-000)"]


@pytest.mark.long
def test_compare_prints_facts_about_the_first_decision_that_differs() -> None:
    Path("strict.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles:\n"
        "- plugins: {multiPoint: {disabled: [{name: NodeAffinity}]}}\n"
    )
    result = run("compare", "default", "strict.yaml")
    assert (
        "default: n-000 was rejected by NodeAffinity: node(s) didn't match Pod's node "
        "affinity/selector; node selector needs disk=ssd; no label disk here"
    ) in result.stdout
