"""``compare`` of two Kubernetes versions shows changed decisions with causes."""

import csv
import io
import json
import pydoc
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner, Result

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.recording import Decided
from tests.kit.documents import YAML_HEADER
from tests.kit.internals.cli import app
from tests.kit.internals.recording import JUDGE
from tests.kit.internals.versions import CHANGES
from tests.kit.report_pages import shown_by

VERSIONS = ("--kubernetes", "1.36", "--kubernetes", "1.37")
HEAD = "apiVersion: v1\nkind: List\nitems:\n"


def node(name: str, more: str = "") -> str:
    return f"""\
- apiVersion: v1
  kind: Node
  metadata: {{name: {name}, labels: {{name: {name}}}}}
  status: {{allocatable: {{cpu: 10, memory: 10Gi, pods: 110}}{more}}}
"""


def pod(
    name: str, spec: str, status: str = "{}", cpu: int = 1, labels: str = ""
) -> str:
    return f"""\
- apiVersion: v1
  kind: Pod
  metadata: {{name: {name}, labels: {{{labels}}}}}
  spec:
    containers:
    - name: main
      image: "shop:1"
      resources: {{requests: {{cpu: {cpu}, memory: {cpu}Gi}}}}
    {spec}
"""


IMAGE = ', images: [{names: ["shop:1"], sizeBytes: 1800000000}]'
IMAGES = (
    HEAD
    + node("with-image", IMAGE)
    + node("with-room")
    + pod("large", "nodeName: with-image", cpu=6)
    + pod("shop", 'volumes: [{name: goods, image: {reference: "goods:1"}}]')
)
"""One pod with an image volume, whose image is on the fuller one of two nodes."""

NEGATIVE = """affinity:
      podAntiAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: name
          labelSelector: {matchLabels: {app: other}}
          namespaceSelector:
            matchExpressions: [{key: team, operator: DoesNotExist}]
"""
NAMESPACES = (
    HEAD
    + "- {apiVersion: v1, kind: Namespace, metadata: {name: b, labels: {team: b}}}\n"
    + node("only")
    + pod("other", "nodeName: only", labels="app: other").replace(
        "name: other,", "name: other, namespace: b,"
    )
    + pod("shy", NEGATIVE)
)
"""A pod with anti-affinity to namespaces without a team, and a pod of a team."""

FULL = HEAD + node("only") + pod("large", "priority: 0", cpu=11)
"""A pod that fits nowhere."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(YAML_HEADER)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["compare", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def changes(text: str, *arguments: str) -> Mapping[str, Any]:
    Path("input.yaml").write_text(text)
    result = run("input.yaml", *VERSIONS, *arguments, "-o", "json")
    assert result.exit_code == 0, result.output
    [found] = json.loads(result.stdout)["changes"]
    assert (found["older"], found["newer"]) == ("1.36", "1.37")
    assert isinstance(found, dict)
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "name", "older", "newer", "cause"),
    [
        (IMAGES, "default/shop", "with-image", "with-room", "image-volume-count"),
        (NAMESPACES, "default/shy", "", "only", "namespace-selector-resolved"),
    ],
    ids=["image volumes", "negative namespace selector"],
)
def test_changed_decision_is_reported_with_its_cause_and_page(
    text: str, name: str, older: str, newer: str, cause: str
) -> None:
    found = changes(text)
    [change] = [entry for entry in found["changed"] if not entry["onlyMessage"]]
    assert change["pod"] == name
    assert (change["older"]["node"], change["newer"]["node"]) == (older, newer)
    page = f"docs/reference/kubernetes-versions.md#{cause}"
    assert change["causes"] == [{"change": cause, "page": page}]


@pytest.mark.long
def test_change_of_the_message_alone_is_marked() -> None:
    [change] = changes(FULL)["changed"]
    assert change["onlyMessage"]
    assert change["causes"][0]["change"] == "preemption-messages"
    assert "no new claims to deallocate" in change["older"]["message"]
    assert "no new claims to deallocate" not in change["newer"]["message"]


@pytest.mark.long
def test_the_order_of_versions_makes_no_difference_to_what_changes() -> None:
    Path("input.yaml").write_text(IMAGES)
    documents = [
        json.loads(run("input.yaml", *order, "-o", "json").stdout)["changes"]
        for order in (VERSIONS, (*VERSIONS[2:], *VERSIONS[:2]))
    ]
    assert documents[0] == documents[1]


@pytest.mark.long
def test_each_configuration_has_its_variants_and_its_changes() -> None:
    Path("input.yaml").write_text(IMAGES)
    both = ("config.yaml", "bin-packing", "input.yaml", *VERSIONS, "-o", "json")
    document = json.loads(run(*both).stdout)
    names = [variant["name"] for variant in document["variants"]]
    assert names == [
        *("config.yaml 1.36", "config.yaml 1.37"),
        *("bin-packing 1.36", "bin-packing 1.37"),
    ]
    changed = {
        change["configuration"]: change["changed"] for change in document["changes"]
    }
    assert list(changed) == ["config.yaml", "bin-packing"]
    # With bin-packing, the fuller node is the better one in any case.
    assert len(changed["config.yaml"]) == 1
    assert not changed["bin-packing"]


@pytest.mark.long
def test_table_names_pod_nodes_cause_and_page() -> None:
    Path("input.yaml").write_text(IMAGES)
    lines = run("input.yaml", *VERSIONS).stdout.splitlines()
    [summary] = [line for line in lines if line.startswith("on the same state")]
    assert summary == (
        "on the same state, 1.37 makes 1 of 1 decision differently from 1.36, "
        "and words 0 differently"
    )
    row = next(line.split() for line in lines if line.endswith("image-volume-count"))
    assert row == ["default/shop", "with-image", "with-room", "image-volume-count"]
    assert any("kubernetes-versions.md#image-volume-count" in line for line in lines)


@pytest.mark.long
def test_csv_counts_by_cause() -> None:
    Path("input.yaml").write_text(IMAGES)
    rows = csv.DictReader(io.StringIO(run("input.yaml", *VERSIONS, "-o", "csv").stdout))
    found = {
        row["figure"]: row["value"]
        for row in rows
        if row["variant"] == "1.37" and row["figure"].partition(".")[0] != "skew"
    }
    assert found["changed.image-volume-count"] == "1"
    assert found["reworded.image-volume-count"] == "0"


@pytest.mark.long
def test_report_has_the_table() -> None:
    Path("input.yaml").write_text(IMAGES)
    result = run("input.yaml", *VERSIONS, "--report", "page.html")
    assert result.exit_code == 0, result.output
    _, table = shown_by(Path("page.html").read_text())["tables"]
    assert table["title"] == "What 1.37 decides or words differently from 1.36"
    assert table["columns"] == ["Pod", "1.36", "1.37", "Cause"]
    shop = ["default/shop", "with-image", "with-room", "image-volume-count"]
    assert table["rows"] == [shop]


def waiting_and_placed(waiting: int, placed: int) -> str:
    pods = [pod(f"large-{at}", "priority: 0", cpu=11) for at in range(waiting)]
    pods += [pod(f"small-{at}", "priority: 1") for at in range(placed)]
    return HEAD + node("only") + "".join(pods)


def made_again(
    monkeypatch: pytest.MonkeyPatch, text: str, lost: str = ""
) -> tuple[Counter[tuple[str, str]], Mapping[str, Any]]:
    """Compare.

    Args:
        monkeypatch: Pytest's.
        text: The input.
        lost: The key of a pod that no version can decide about as recorded.

    Returns:
        How often each decision was made again, by the pod's key and the node that it
        got; and what changes.
    """
    module, _, name = JUDGE.rpartition(".")
    decide = getattr(pydoc.locate(module), name)
    times = Counter[tuple[str, str]]()

    def counted(judge: object, subject: Pod, theirs: Decided) -> object:
        times[subject.key, theirs.node] += 1
        verdict = decide(judge, subject, theirs)
        if subject.key != lost:
            return verdict
        return attrs.evolve(verdict, decided=Decided(message="something else"))

    with monkeypatch.context() as patched:
        patched.setattr(JUDGE, counted)
        return times, changes(text)


@pytest.mark.long
def test_each_decision_is_repeated_equally_often_however_many_pods_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    totals = []
    for count in (3, 9):
        times, found = made_again(monkeypatch, waiting_and_placed(count, count))
        assert found["decisions"] == 2 * len(found["changed"]) == 2 * count
        totals.append(times.total())
    assert totals[1] == 3 * totals[0] > 0


@pytest.mark.long
def test_causes_are_searched_only_for_changed_decisions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times, _ = made_again(monkeypatch, waiting_and_placed(waiting=1, placed=5))
    assert {times[f"default/small-{at}", "only"] for at in range(5)} == {1}
    # Once by each version, and once without each change that a scheduler makes.
    newer, older = Kubernetes("1.37"), Kubernetes("1.36")
    between = [
        name
        for name, change in CHANGES.items()
        if newer.has(name) and not older.has(name) and not change.is_of_cluster
    ]
    assert times["default/large-0", ""] == 2 + len(between)


@pytest.mark.long
def test_no_cause_is_looked_for_where_the_older_version_differs_from_its_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = waiting_and_placed(waiting=2, placed=2)
    lost = "default/large-1"
    times, found = made_again(monkeypatch, text, lost=lost)
    assert [change["pod"] for change in found["changed"]] == ["default/large-0"]
    assert times[lost, ""] == 2


def test_one_version_is_an_error() -> None:
    Path("input.yaml").write_text(IMAGES)
    result = run("input.yaml", "--kubernetes", "1.37", "--kubernetes", "1.37")
    assert result.exit_code == 2
    assert "expected two variants" in result.stderr
