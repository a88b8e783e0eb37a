"""``what-if``, ``scenario``, ``plan`` and reports know groups of pods."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.gang_files import GATES, gang_yaml, rack_yaml, yaml_file
from tests.kit.internals.cli import app
from tests.kit.results import checked_result

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      schedulingGroup: {podGroupName: train}
      containers: [{name: main, image: trainer, resources: {requests: {cpu: "2"}}}]
"""


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    group = gang_yaml("train", 3, pods=0, in_rack=True)
    (tmp_path / "cluster.yaml").write_text(yaml_file(rack_yaml(1), group, JOB))


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_drain_that_leaves_too_little_room_breaks_a_gang() -> None:
    result = run("what-if", "cluster.yaml", "--drain", "node-1-1", *GATES)
    assert "drain node-1-1: podgroup default/train breaks: " in result.stdout
    assert "3 had one, minCount 3" in result.stdout


def test_a_gang_that_moves_as_a_whole_stays_whole() -> None:
    added = yaml_file(Path("cluster.yaml").read_text(), rack_yaml(2))
    Path("cluster.yaml").write_text(added)
    drains = ("--drain", "node-1-1", "--drain", "node-1-2")
    result = run("what-if", "cluster.yaml", *drains, *GATES)
    fates = [line for line in result.stdout.splitlines() if "podgroup" in line]
    assert all("breaks" not in line for line in fates)


def test_the_result_of_what_if_has_the_groups_that_break() -> None:
    command = ("what-if", "cluster.yaml", "--drain", "node-1-1", "-o", "json", *GATES)
    document = json.loads(run(*command).stdout)
    checked_result("what-if", document)
    [effect] = document["steps"][0]["podGroups"]
    assert effect["fate"] == "broken"
    assert effect["before"] == 3


SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
featureGates: {GenericWorkload: true, TopologyAwareWorkloadScheduling: true}
input: {files: [cluster.yaml]}
steps:
- {at: 1m, drain: {nodes: node-1-1}}
assertions:
- {name: starts, at: 30s, podGroups: {name: train}}
- {name: keeps its quorum, from: 30s, podGroups: {name: tr*, state: Quorum}}
- {name: is absent, podGroups: {name: other}}
- {name: waits, at: 30s, podGroups: {namespace: default, state: Pending}}
"""


def test_a_scenario_asserts_the_state_of_groups() -> None:
    Path("keep.yaml").write_text(SCENARIO)
    document = json.loads(run("scenario", "run", "keep.yaml", "-o", "json").stdout)
    checked_result("scenario", document)
    assertions = {each["name"]: each for each in document[0]["assertions"]}
    passed = {name: each["passed"] for name, each in assertions.items()}
    assert passed == {
        "starts": True,
        "keeps its quorum": False,
        "is absent": False,
        "waits": False,
    }
    assert assertions["keeps its quorum"]["objects"] == ["podgroup/default/train"]
    assert assertions["is absent"]["found"] == "there was no such PodGroup"


def test_an_assertion_without_a_name_has_the_name_of_its_group() -> None:
    text = SCENARIO.partition("assertions:")[0]
    text += "assertions: [{podGroups: {name: train, state: Quorum}}]\n"
    Path("keep.yaml").write_text(text)
    document = json.loads(run("scenario", "run", "keep.yaml", "-o", "json").stdout)
    [assertion] = document[0]["assertions"]
    assert assertion["name"] == "the quorum of podgroup/train has nodes"


def test_an_assertion_about_groups_names_the_gate_that_is_off() -> None:
    off = SCENARIO.replace("GenericWorkload: true, TopologyAware", "").replace(
        "featureGates: {WorkloadScheduling: true}\n", ""
    )
    Path("keep.yaml").write_text(off)
    document = json.loads(run("scenario", "run", "keep.yaml", "-o", "json").stdout)
    answers = {each["found"] for each in document[0]["assertions"]}
    assert answers == {"the feature gate GenericWorkload is off"}


@pytest.mark.long
def test_a_plan_makes_a_gang_whole_in_its_rack() -> None:
    wide = yaml_file(rack_yaml(1), gang_yaml("wide", 6, pods=6, in_rack=True))
    Path("cluster.yaml").write_text(wide)
    rack = "topology.kubernetes.io/rack=rack-1"
    group = f"name=more,cpu=4,memory=16Gi,label:{rack}"
    result = run("plan", "cluster.yaml", "--node-group", group, *GATES)
    assert "plan: 1 more node\n" in result.stdout
    assert result.exit_code == 0


@pytest.mark.long
def test_nodes_outside_the_rack_do_not_help_a_gang() -> None:
    wide = yaml_file(rack_yaml(1), gang_yaml("wide", 6, pods=6, in_rack=True))
    Path("cluster.yaml").write_text(wide)
    group = "name=more,cpu=4,memory=16Gi,max=2"
    result = run("plan", "cluster.yaml", "--node-group", group, *GATES)
    assert result.exit_code != 0


def test_compare_shows_decisions_about_pods_that_only_their_group_was_tried_for() -> (
    None
):
    big = yaml_file(
        rack_yaml(1), gang_yaml("big", 3, pods=3, cpu=4), gang_yaml("free", 1, pods=1)
    )
    Path("cluster.yaml").write_text(big)
    result = run("compare", "cluster.yaml", "--compare-gates", "GenericWorkload=true")
    assert "1.37 with gates: default/" in result.stdout
    assert result.exit_code == 0


def test_compare_shows_what_the_gates_change() -> None:
    wide = yaml_file(rack_yaml(1, 2), gang_yaml("wide", 6, pods=6, in_rack=True))
    Path("cluster.yaml").write_text(wide)
    gates = GATES[1]
    result = run("compare", "cluster.yaml", "--compare-gates", gates, "-o", "json")
    document = json.loads(result.stdout)
    checked_result("compare", document)
    without, with_gates = document["variants"]
    assert [without["name"], with_gates["name"]] == ["1.37", "1.37 with gates"]
    assert without["figures"]["placed"]["mean"] == 6
    assert with_gates["figures"]["placed"]["mean"] == 0
    assert with_gates["figures"]["pod_groups"]["mean"] == 1
    assert with_gates["figures"]["pod_groups_with_quorum"]["mean"] == 0


def test_a_gate_without_the_gates_that_it_needs_is_refused() -> None:
    gate = "TopologyAwareWorkloadScheduling=true"
    result = run("compare", "cluster.yaml", "--compare-gates", gate)
    assert "Invalid value for --compare-gates" in result.stderr
    assert result.exit_code != 0
