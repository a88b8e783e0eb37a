"""``explain`` shows why not a node, suggestions, and summaries of pending pods."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quaymaster.simulation import NodeNotFoundError, PodNotFoundError
from tests.kit.internals.cli import app

NODES = """
apiVersion: v1
kind: Node
metadata: {name: general, labels: {kubernetes.io/hostname: general}}
status: {allocatable: {cpu: "5", memory: 16Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: batch, labels: {kubernetes.io/hostname: batch}}
spec:
  taints: [{key: team, value: batch, effect: NoSchedule}]
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "10"}}
"""
PODS = """
apiVersion: v1
kind: Pod
metadata: {name: cache}
spec:
  nodeSelector: {disk: ssd}
  containers: [{name: cache, image: redis, resources: {requests: {cpu: 500m}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: nginx, resources: {requests: {cpu: "2"}}}]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.yaml").write_text(NODES)
    (tmp_path / "pods.yaml").write_text(PODS)


def run(*arguments: str) -> Result:
    command = ("explain", *arguments, "nodes.yaml", "pods.yaml")
    result = CliRunner().invoke(app, command)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def document(*arguments: str) -> Any:  # noqa: ANN401 - as JSON has it
    return json.loads(run(*arguments, "-o", "json").stdout)


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_why_not_lists_every_plugin_that_rejects_a_node() -> None:
    text = run("cache", "--why-not", "batch").stdout
    assert text.startswith("default/cache on batch: it was rejected\n")
    plugins = [line[0] for line in words(text) if line]
    assert "TaintToleration" in plugins
    assert "NodeAffinity" in plugins
    assert "it would not help if pods were preempted there" in text


def test_why_not_is_a_document() -> None:
    answer = document("cache", "--why-not", "batch")["whyNot"]
    assert (answer["node"], answer["fate"]) == ("batch", "rejected")
    assert [rejection["plugin"] for rejection in answer["rejections"]] == [
        "TaintToleration",
        "NodeAffinity",
    ]
    assert answer["total"] is None


def test_why_not_of_the_chosen_node_reports_the_choice() -> None:
    shown = document("deploy/web", "-n", "shop", "--why-not", "general")
    placed = CliRunner().invoke(app, ["simulate", "nodes.yaml", "pods.yaml"]).stdout
    [pod] = [line[0] for line in words(placed) if line[1:] == ["general"]][:1]
    assert shown["pod"] != pod
    text = run(pod, "--why-not", "general").stdout
    assert "on general: it was chosen" in text


def test_pending_pod_of_a_workload_is_explained_rather_than_a_placed_one() -> None:
    shown = document("shop/deploy/web")
    assert (shown["outcome"], shown["node"]) == ("unschedulable", "")
    assert "Insufficient cpu" in shown["message"]


def test_why_not_may_be_about_a_past_attempt() -> None:
    answer = document("cache", "--why-not", "batch", "--attempt", "1")
    assert answer["attempt"] == 1
    assert answer["whyNot"]["fate"] == "rejected"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("genral", "; did you mean general?"), ("zzz", "")],
    ids=["a near one", "none near"],
)
def test_unknown_node_is_an_error(name: str, hint: str) -> None:
    with pytest.raises(NodeNotFoundError) as caught:
        run("cache", "--why-not", name)
    assert str(caught.value) == f"node '{name}': no such node{hint}"


CLAIMS = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: six}
spec:
  devices:
    requests: [{name: r, exactly: {deviceClassName: gpu.example.com, count: 6}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec:
  spec:
    devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec:
  priority: -1
  containers: [{name: c, image: a, resources: {claims: [{name: r}]}}]
  resourceClaims: [{name: r, resourceClaimName: six}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: small}
spec:
  parallelism: 14
  completions: 14
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: a, resources: {claims: [{name: r}]}}]
      resourceClaims: [{name: r, resourceClaimTemplateName: one}]
"""


@pytest.mark.long
def test_nodes_with_like_devices_are_one_row_whoever_has_the_devices() -> None:
    Path("claims.yaml").write_text(CLAIMS)
    given = ("explain", "large", "claims.yaml", "--nodes")
    nodes = "14:cpu=4,memory=8Gi,devices=gpu.example.com:4"
    output = CliRunner().invoke(app, (*given, nodes)).output
    text = "claim default/six, request r: wants 6, 3 of 4 devices would do: 1 allocated"
    rows = [line for line in output.splitlines() if text in line]
    assert [row.split()[0] for row in rows] == ["14"]
    assert "devices are allocated to" not in output
    every = CliRunner().invoke(app, (*given, nodes, "--top", "0")).output
    assert every.count("devices are allocated to default/small-") == 14


@pytest.mark.long
def test_suggestions_are_tried_and_printed_with_commands() -> None:
    text = run("cache", "--suggest", "--top", "1").stdout
    assert "what would place default/cache:" in text
    assert "1. let pod/cache do without nodes labelled disk=ssd" in text
    assert "3. label node general with disk=ssd" in text
    assert "   kubectl label node general disk=ssd" in text
    assert "simulations of the whole input" in text


@pytest.mark.long
def test_suggestions_are_a_document() -> None:
    answer = document("cache", "--suggest")["suggestions"]
    assert (answer["subject"], answer["namespace"]) == ("pod/cache", "default")
    last = answer["changes"][-1]
    assert last["kinds"] == ["label-node"]
    assert last["command"] == "kubectl label node general disk=ssd"
    assert (last["placed"], last["evicted"]) == (1, 0)
    assert answer["complete"] is True
    assert answer["remarks"] == ["no node has disk=ssd; no node has a label disk"]


@pytest.mark.long
def test_incomplete_search_is_reported() -> None:
    text = run("cache", "--suggest", "--max-trials", "1").stdout
    assert "not all changes were tried; --max-trials N tries more" in text
    assert (
        document("cache", "--suggest", "--max-trials", "1")["suggestions"]["trials"]
        == 1
    )


def test_pod_with_a_node_needs_no_change() -> None:
    (Path("pods.yaml")).write_text(PODS.replace("nodeSelector: {disk: ssd}", ""))
    assert "it has a node: no change is needed" in run("cache", "--suggest").stdout


def test_all_pending_sums_up_by_owner_and_cause() -> None:
    lines = words(run("--all-pending").stdout)
    assert ["1", "default", "pod/cache"] in [line[:3] for line in lines]
    assert ["1", "shop", "deployment/web"] in [line[:3] for line in lines]
    assert ["2", "pods", "pending,", "2", "placed", "on", "2", "nodes"] in lines


@pytest.mark.long
def test_all_pending_is_a_document_with_changes() -> None:
    answer = document("--all-pending", "--suggest")
    groups = {group["subject"]: group for group in answer["groups"]}
    assert sorted(groups) == ["deployment/web", "pod/cache"]
    cause = groups["pod/cache"]["causes"][0]
    assert set(cause) == {"plugin", "reason", "nodes", "alone"}
    assert groups["pod/cache"]["change"]["kinds"] == ["selector"]
    assert groups["deployment/web"]["pods"][0].startswith("shop/web-")


def test_pods_with_commas_are_summed_up() -> None:
    assert "2 pods pending" in run("cache,deploy/web").stdout


def test_summary_without_pending_pods_is_printed() -> None:
    Path("pods.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n")
    assert run("--all-pending").stdout == "no pod is pending\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cach",), "pod 'cach': no such pod; did you mean default/cache?"),
        (
            ("cach", "--suggest"),
            "pod 'cach': no such pod; did you mean default/cache?",
        ),
        (
            ("deploy/web,cach",),
            "pod 'cach': no such pod; did you mean default/cache?",
        ),
        (
            ("cache", "--attempt", "9"),
            "pod 'cache': attempt 9 does not exist: it was tried 2 times",
        ),
    ],
    ids=["explain", "suggest", "one of several", "an attempt"],
)
def test_wrong_names_are_one_clear_error(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(PodNotFoundError) as caught:
        run(*arguments)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    "option", [("--why-not", "batch"), ("--attempt", "1"), ("--unbind",)]
)
def test_options_for_one_pod_are_rejected_for_many(option: tuple[str, ...]) -> None:
    result = run("--all-pending", *option)
    assert result.exit_code == 2
    assert f"{option[0]} needs exactly one POD" in result.stderr


def test_all_attempts_of_a_pod_are_printed() -> None:
    text = run("cache", "--attempts", "all").stdout
    assert "attempt 1 of 2" in text
    assert "attempt 2 of 2" in text
    attempts = document("cache", "--attempt", "all")["attempts"]
    assert [attempt["attempt"] for attempt in attempts] == [1, 2]
    assert all(attempt["rejections"] for attempt in attempts)
