"""``explain podgroup/NAME`` shows the placements of a group, and what it waits for."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quaymaster.simulation import GroupNotFoundError
from tests.kit.gang_files import (
    GATES,
    gang_yaml,
    members_yaml,
    rack_yaml,
    yaml_file,
)
from tests.kit.internals.cli import app
from tests.kit.results import checked_result

CLUSTER = yaml_file(
    rack_yaml(1, 2),
    gang_yaml("train", 4, pods=4, in_rack=True),
    gang_yaml("wide", 6, pods=6, in_rack=True),
    gang_yaml("early", 3, pods=2),
    members_yaml("nogroup", 1),
)
UNLABELLED = """
apiVersion: v1
kind: Node
metadata: {name: node-0}
status: {allocatable: {cpu: "64", memory: 1Ti, pods: "110"}}
"""


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.yaml").write_text(CLUSTER)


def run(*arguments: str, gates: bool = True) -> Result:
    command = ("explain", *arguments, "cluster.yaml", *(GATES if gates else ()))
    result = CliRunner().invoke(app, command)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def explained(*arguments: str) -> dict[str, Any]:
    document = json.loads(run(*arguments, "-o", "json").stdout)
    assert isinstance(document, dict)
    return document


def rows(text: str, *beginnings: str) -> list[list[str]]:
    """The cells of the lines that begin like this."""
    return [
        [cell.strip() for cell in line.split("   ") if cell.strip()]
        for line in text.splitlines()
        if line.startswith(beginnings)
    ]


@pytest.mark.long
def test_each_placement_names_the_pod_that_stops_the_group() -> None:
    text = run("podgroup/wide").stdout
    assert text.startswith("podgroup default/wide: unschedulable\n")
    stopped = [row for row in rows(text, "rack-") if "of 6" in row[2]]
    assert [row[0] for row in stopped] == ["rack-1", "rack-2"] or [
        row[0] for row in stopped
    ] == ["rack-2", "rack-1"]
    fit = {row[2]: row[3] for row in stopped}
    assert fit == {
        "4 of 6": "default/wide-4: 0/2 nodes are available: 2 Insufficient cpu.",
        "0 of 6": "default/wide-0: 0/2 nodes are available: 2 Insufficient cpu.",
    }
    assert "free cpu 0 of 4" in text


def test_the_scores_of_placements_and_the_choice_are_shown() -> None:
    text = run("podgroup/train").stdout
    assert "podgroup default/train: scheduled" in text
    assert "NodeResourcesFit" in text
    assert "PodGroupPodsCount" in text
    chosen, other = rows(text, "rack-")
    assert chosen[-1] == "feasible, chosen"
    assert other[-1] == "feasible"
    members = rows(text, "default/train-")
    assert len(members) == 4
    assert {row[2] for row in members} == {chosen[0]}


def test_a_group_that_waits_for_its_quorum_counts_its_pods() -> None:
    text = run("podgroup/early").stdout
    assert "podgroup default/early: waits for its quorum\n2 of 3 pods exist\n" in text
    assert "no condition and no event" in text


def test_pods_that_name_no_podgroup_wait_for_it() -> None:
    text = run("podgroup/nogroup").stdout
    assert text == (
        "podgroup default/nogroup: does not exist\n"
        "1 pod waits for it, and the PodGroup does not exist\n"
    )


@pytest.mark.parametrize(
    "name", ["podgroups/train", "podgroup.scheduling.k8s.io/train"]
)
def test_kubectl_names_of_the_kind_are_accepted(name: str) -> None:
    assert explained(name)["group"] == "default/train"


def test_the_namespace_may_come_first() -> None:
    assert explained("default/podgroup/train")["group"] == "default/train"


def test_the_group_of_a_pod_is_shown_below_it() -> None:
    text = run("wide-5").stdout
    pod, group = text.split("\npodgroup ", 1)
    assert pod.startswith("default/wide-5: unschedulable\n")
    assert group.startswith("default/wide: unschedulable\n")


def test_a_member_of_several_placements_was_tried_once() -> None:
    document = explained("wide-1")
    assert [attempt["attempt"] for attempt in document["attempts"]] == [1]
    assert document["podGroup"]["outcome"] == "unschedulable"


@pytest.mark.parametrize("name", ["train", "wide", "early", "nogroup"])
def test_the_result_has_the_documented_keys(name: str) -> None:
    checked_result("explain-group", explained(f"podgroup/{name}"))


def test_a_member_has_the_documented_keys() -> None:
    checked_result("explain", explained("wide-0"))


def test_csv_has_a_line_for_each_placement() -> None:
    lines = run("podgroup/wide", "-o", "csv").stdout.splitlines()
    assert len(lines) == 3


def test_an_unknown_group_has_a_hint() -> None:
    with pytest.raises(GroupNotFoundError, match=r"did you mean default/train\?"):
        run("podgroup/trains")


def test_a_name_like_no_other_gets_the_names_of_all_groups() -> None:
    with pytest.raises(GroupNotFoundError, match="; there are: default/early, "):
        run("podgroup/job")


def test_a_job_is_a_hint_at_the_group_that_was_made_for_it() -> None:
    job = yaml_file(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: fit}\nspec:\n"
        "  parallelism: 2\n  completions: 2\n  completionMode: Indexed\n"
        "  scheduling: {schedulingPolicy: {gang: {}}}\n"
        "  template:\n    spec:\n      restartPolicy: Never\n"
        "      containers: [{name: main, image: trainer}]\n"
    )
    Path("cluster.yaml").write_text(yaml_file(CLUSTER, job))
    with pytest.raises(GroupNotFoundError, match=r"did you mean default/fit-[^ ]+\?"):
        run("podgroup/fit", "--config", "groups")


def test_without_the_gate_groups_cannot_be_explained() -> None:
    with pytest.raises(GroupNotFoundError, match="GenericWorkload is off"):
        run("podgroup/train", gates=False)


def test_an_attempt_that_was_not_made_is_refused() -> None:
    with pytest.raises(GroupNotFoundError, match="attempt 9 does not exist"):
        run("podgroup/wide", "--attempt", "9")


@pytest.mark.parametrize("option", [("--unbind",), ("--why-not", "node-1-1")])
def test_options_about_pods_are_refused(option: tuple[str, ...]) -> None:
    result = run("podgroup/train", *option)
    assert f"{option[0]} needs a pod, not a PodGroup" in result.stderr


@pytest.mark.long
def test_suggestions_name_the_rack_and_the_quorum_that_would_fit() -> None:
    text = run("podgroup/wide", "--suggest").stdout
    _, suggested = text.split("what would make podgroup/wide fit:\n")
    assert "add 1 more node in rack-" in suggested
    assert "lower minCount of podgroup/wide from 6 to 4" in suggested
    assert (
        "kubectl patch podgroup.scheduling.k8s.io wide -n default --type=merge -p "
        '\'{"spec":{"schedulingPolicy":{"gang":{"minCount":4}}}}\'' in suggested
    )


@pytest.mark.long
def test_suggestions_are_part_of_the_result() -> None:
    document = explained("podgroup/wide", "--suggest")
    checked_result("explain-group", document)
    kinds = [change["kinds"] for change in document["suggestions"]["changes"]]
    assert ["add-node"] in kinds


@pytest.mark.long
def test_suggestions_for_a_pod_are_those_of_its_group() -> None:
    text = run("wide-2", "--suggest", "--max-trials", "2").stdout
    assert "what would make podgroup/wide fit:" in text


@pytest.mark.long
def test_a_waiting_group_says_how_many_pods_are_missing() -> None:
    text = run("podgroup/early", "--suggest").stdout
    missing = "2 of 3 pods exist: 1 more pod must be created before it is tried"
    assert missing in text


def test_pending_pods_of_a_group_are_one_row() -> None:
    result = CliRunner().invoke(
        app, ("explain", "--all-pending", "cluster.yaml", *GATES)
    )
    pods = {row[2]: row[0] for row in rows(result.stdout, "1 ", "2 ", "6 ")[:3]}
    assert pods == {
        "podgroup/wide": "6",
        "podgroup/early": "2",
        "podgroup/nogroup": "1",
    }


def test_simulate_counts_the_pods_of_a_group_together() -> None:
    result = CliRunner().invoke(app, ("simulate", "cluster.yaml", *GATES))
    assert "6 pods: PodGroup default/wide is unschedulable: " in result.stdout
    early = "2 pods: PodGroup default/early waits for its quorum: 2 of 3 pods exist\n"
    assert early in result.stdout


def test_the_result_of_simulate_has_the_groups() -> None:
    command = ("simulate", "cluster.yaml", "-o", "json", *GATES)
    document = json.loads(CliRunner().invoke(app, command).stdout)
    checked_result("simulate", document)
    groups = {group["group"]: group for group in document["podGroups"]}
    assert groups["default/train"]["placed"] == 4
    assert sum(groups["default/train"]["domains"].values()) == 4
    assert groups["default/early"]["outcome"] == "waiting-for-pods"


def test_several_groups_are_summarized() -> None:
    text = run("podgroup/wide,podgroup/early").stdout
    assert "8 pods pending" in text
    assert "podgroup/nogroup" not in text


@pytest.mark.long
def test_nodes_without_the_label_of_the_group_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER + "---\n" + UNLABELLED)
    line = "1 of 5 nodes cannot be used: no label topology.kubernetes.io/rack"
    assert line in run("podgroup/wide").stdout.splitlines()
    assert explained("podgroup/wide")["unlabelledNodes"] == 1


def test_a_label_that_no_node_has_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER.replace("kubernetes.io/rack:", "kubernetes.io/row:"))
    assert (
        "no node has a label topology.kubernetes.io/rack" in run("podgroup/wide").stdout
    )
