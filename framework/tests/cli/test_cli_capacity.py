"""``quaymaster capacity`` prints tables, documents and errors."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster.manifests import ManifestErrors
from quaymaster.planning import PodTextError
from tests.kit.internals.cli import app

WEB = """
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
"""
NODES = ("--nodes", "2:cpu=4,memory=8Gi,zones=2")


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(WEB, encoding="utf-8")
    return "web.yaml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["capacity", *arguments])


def document(*arguments: str) -> dict[str, object]:
    found = run(*arguments, "-o", "json")
    assert found.exit_code == 0, found.output
    loaded: dict[str, object] = json.loads(found.stdout)
    return loaded


def test_tables_show_each_node_each_group_and_all(web: str) -> None:
    lines = [line.split() for line in run(web, *NODES).stdout.splitlines()]
    assert ["node-000", "Ready", "3/4", "2Gi/8Gi", "2/110"] in lines
    assert ["zone-a", "4cpu-8Gi", "1", "cpu", "4", "3", "1"] in [
        row[:7] for row in lines
    ]
    assert ["(all)", "2", "cpu", "8", "4500m", "3500m", "56%"] in [
        row[:7] for row in lines
    ]
    assert ["3", "pods", "on", "2", "nodes"] in lines


def test_headroom_is_printed_as_a_sentence(web: str) -> None:
    found = run(web, *NODES, "--fit", "deploy/web", "--pod", "cpu=1", "--at-most", "2")
    assert found.stdout.splitlines()[-3:] == [
        "1 more of deploy/web fit; then 0/2 nodes are available: 2 Insufficient cpu.",
        "  Insufficient cpu (node-000): wants cpu 1500m; free cpu 1 of 4",
        "2 more of cpu=1 fit, or more (--at-most 2 was reached)",
    ]


def test_document_has_all_figures(web: str) -> None:
    found = document(web, *NODES, "--by", "zone", "--fit", "deploy/web")
    assert found["by"] == ["topology.kubernetes.io/zone"]
    assert found["total"]["resources"]["cpu"]["free"] == 3500  # type: ignore[index]
    assert [question["fits"] for question in found["headroom"]] == [1]  # type: ignore[attr-defined]


def test_wide_has_a_line_for_each_resource_of_a_node(web: str) -> None:
    lines = [
        line.split() for line in run(web, *NODES, "-o", "wide").stdout.splitlines()
    ]
    row = ["node-000", "Ready", "zone-a", "4cpu-8Gi", "cpu", "4", "3", "1", "75%", "-"]
    assert row in lines
    assert lines[lines.index([]) + 1][:2] == ["TYPICAL", "POD"]


def test_prices_are_added_up(web: str) -> None:
    Path("prices.yaml").write_text("4cpu-8Gi: 0.25", encoding="utf-8")
    assert "price: 0.5 per hour\n" in run(web, *NODES, "--prices", "prices.yaml").stdout


def test_wrong_prices_are_an_error_with_the_place(web: str) -> None:
    Path("prices.yaml").write_text("a: cheap", encoding="utf-8")
    found = run(web, *NODES, "--prices", "prices.yaml")
    assert str(found.exception) == (
        "prices.yaml: a: expected a price per hour such as 0.096, got 'cheap'"
    )


def test_a_wrong_annotation_is_an_error_with_the_file(web: str) -> None:
    Path("node.yaml").write_text(
        "{apiVersion: v1, kind: Node, metadata: {name: one, annotations: "
        "{simulation.quaymaster.io/price-per-hour: dear}}}",
        encoding="utf-8",
    )
    found = run(web, "node.yaml")
    assert str(found.exception).startswith("node.yaml (Node one): metadata.")


def test_a_pod_that_cannot_be_read_is_an_error(web: str) -> None:
    assert isinstance(run(web, "--pod", "cpu").exception, PodTextError)


@pytest.mark.long
def test_exit_code_is_1_on_demand_if_nothing_more_fits(web: str) -> None:
    arguments = (web, *NODES, "--pod", "cpu=9")
    assert (run(*arguments).exit_code, run(*arguments, "--require-fit").exit_code) == (
        0,
        1,
    )
    assert run(web, *NODES, "--pod", "cpu=1", "--require-fit").exit_code == 0


@pytest.mark.long
def test_simulate_prints_the_same_figures_at_its_end(web: str) -> None:
    def simulated(*more: str) -> Result:
        return CliRunner().invoke(app, ["simulate", web, *NODES, "--capacity", *more])

    [total] = [
        line.split()[3:7]
        for line in simulated().stdout.splitlines()
        if line.startswith("(all)") and " cpu " in line
    ]
    assert total == ["8", "4500m", "3500m", "56%"]
    found = json.loads(simulated("-o", "json").stdout)["capacity"]
    assert found == {key: document(web, *NODES)[key] for key in found}
    assert simulated("-o", "name").exit_code == 2


def test_pod_of_a_manifest_is_like_one_of_a_line(web: str) -> None:
    pod = """
    apiVersion: v1
    kind: Pod
    metadata: {name: small}
    spec:
      nodeName: elsewhere
      containers: [{name: c, image: x, resources: {requests: {cpu: 250m}}}]
    """
    Path("podspec.yaml").write_text(pod, encoding="utf-8")
    words = ("--pod", "podspec.yaml", "--pod", "cpu=250m", "--pod", web)
    headroom = document(web, *NODES, *words)["headroom"]
    assert isinstance(headroom, list)
    assert [each["fits"] for each in headroom] == [14, 14, 1]


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("{apiVersion: v1, kind: Namespace, metadata: {name: a}}", "Namespace"),
        (WEB + "---" + WEB.replace("name: web}", "name: web2}", 1), "Deployment, "),
    ],
)
def test_manifest_without_a_single_pod_is_an_error(
    web: str, text: str, got: str
) -> None:
    Path("podspec.yaml").write_text(text, encoding="utf-8")
    failed = run(web, *NODES, "--pod", "podspec.yaml")
    assert isinstance(failed.exception, ManifestErrors)
    expected = "podspec.yaml: expected one Pod, or one workload with a template, got "
    assert str(failed.exception).startswith(expected + got)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("topology.kubernetes.io/zon", "; did you mean 'topology.kubernetes.io/zone'?"),
        ("example.com/zone", "; did you mean 'topology.kubernetes.io/zone'?"),
        ("shelf", " (known: beta.kubernetes.io/"),
    ],
)
def test_label_that_no_node_has_is_an_error(web: str, label: str, message: str) -> None:
    result = run(web, *NODES, "--by", label)
    assert result.exit_code == 2
    assert f"--by: no node has the label '{label}'{message}" in result.stderr


CLOSED = """
apiVersion: v1
kind: Node
metadata: {name: shut}
spec: {unschedulable: true}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110, example.com/gpu: 2}}
---
apiVersion: v1
kind: Node
metadata: {name: lost}
status:
  allocatable: {cpu: 4, memory: 8Gi, pods: 110}
  conditions: [{type: Ready, status: Unknown}]
"""


def test_nodes_that_accept_no_pods_have_their_own_lines(web: str) -> None:
    Path("closed.yaml").write_text(CLOSED, encoding="utf-8")
    text = run(web, "closed.yaml", *NODES).stdout
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["NODE", "STATUS", "CPU", "MEMORY", "PODS", "GPU"]
    assert ["shut", "Ready,SchedulingDisabled", "0/4", "0/8Gi", "0/110", "0/2"] in lines
    assert ["(open)", "2", "0", "cpu", "8", "4500m", "3500m"] in [
        row[:7] for row in lines
    ]
    assert ["(closed)", "2", "2", "cpu", "8", "0", "8"] in [row[:7] for row in lines]
    assert "1 node accepts no pods: NotReady (unreachable): lost\n" in text
    expected = "1 node accepts no pods: Ready,SchedulingDisabled (cordoned): shut\n"
    assert expected in text


def test_document_has_the_status_of_nodes(web: str) -> None:
    Path("closed.yaml").write_text(CLOSED, encoding="utf-8")
    found = document(web, "closed.yaml", *NODES)
    nodes = found["nodes"]
    assert isinstance(nodes, list)
    assert {node["status"] for node in nodes} == {
        *("Ready", "NotReady", "Ready,SchedulingDisabled")
    }
    assert found["closedNodes"] == [
        {"node": "lost", "status": "NotReady", "why": "unreachable"},
        {"node": "shut", "status": "Ready,SchedulingDisabled", "why": "cordoned"},
    ]
