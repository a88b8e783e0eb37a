"""``what-if`` makes changes in order and prints their effects."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from quaymaster.errors import QuaymasterError
from quaymaster.planning import ChangeError
from tests.kit.internals.cli import LINE_WIDTH, app

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
      - {name: main, image: nginx, resources: {requests: {cpu: 1}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}
"""
NODES = ("--nodes", "3:cpu=2,memory=8Gi,zones=3")


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(CLUSTER)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["what-if", "web.yaml", *NODES, *arguments])


def rows(result: Result) -> list[list[str]]:
    lines = result.stdout.splitlines()
    return [line.split() for line in lines[1 : lines.index("")]]


def test_each_change_has_a_row_in_the_order_of_the_command_line() -> None:
    changes = ("--scale", "deploy/web=5", "--repack", "--scale", "deploy/web=1")
    result = run(*changes, "--add-nodes", "1:cpu=2,memory=8Gi")
    assert result.exit_code == 0
    assert [row[0] for row in rows(result)] == [
        "(before)",
        "scale",
        "repack",
        "scale",
        "add-nodes",
    ]
    assert "in total: placed 3 -> 1, pending 0 -> 0, nodes 3 -> 4" in result.stdout


def test_a_path_behind_repack_is_still_a_path() -> None:
    Path("more.yaml").write_text(CLUSTER.replace("name: web", "name: api"))
    result = run("--repack", "more.yaml")
    assert "in total: placed 6 -> 6" in result.stdout


@pytest.mark.long
def test_a_configuration_is_in_force_from_its_place_on() -> None:
    before = json.loads(
        run("--new-config", "bin-packing", "--repack", "-o", "json").stdout
    )
    after = json.loads(
        run("--repack", "--new-config", "bin-packing", "-o", "json").stdout
    )
    assert (before["before"]["nodesUsed"], before["after"]["nodesUsed"]) == (3, 2)
    assert after["after"]["nodesUsed"] == 3
    begun = run("--config", "bin-packing", "--cordon", "node-000", "-o", "json")
    assert json.loads(begun.stdout)["before"]["nodesUsed"] == 2


def test_refused_evictions_are_listed_with_the_reason() -> None:
    result = run("--drain", "node-000", "--drain-timeout", "1m", "--require-all")
    assert result.exit_code == 1
    assert "not evicted" in result.stdout
    assert "13 times, from 5s to 1m5s" in result.stdout
    assert "Cannot evict pod as it would violate" in result.stdout
    assert "1 pod not drained" in result.stdout


def test_documents_have_all_of_it() -> None:
    result = run("--drain", "node-000", "--fail-zone", "zone-b", "-o", "yaml")
    document = yaml.safe_load(result.stdout)
    drain, loss = document["steps"]
    [refused] = drain["refused"]
    assert (refused["times"], refused["isGone"]) == (121, False)
    assert (drain["at"], drain["ended"]) == (5, 605)
    assert document["summary"]["left"] == [refused["pod"]]
    assert loss["objects"] == ["Node/node-001"]
    assert document["before"]["resources"]["cpu"]["utilization"] == 0.5
    assert loss["after"] == document["after"]


def test_files_are_applied_and_objects_deleted() -> None:
    Path("new.yaml").write_text(CLUSTER.replace("replicas: 3", "replicas: 2"))
    result = run("--apply", "new.yaml", "--delete", "deploy/web")
    assert result.exit_code == 0
    assert "in total: placed 3 -> 0" in result.stdout


def test_prices_make_a_column() -> None:
    Path("prices.yaml").write_text("2cpu-8Gi: 0.5\n")
    result = run("--remove", "node-000", "--prices", "prices.yaml")
    assert [row[-1] for row in rows(result)] == ["1.5", "1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected at least one change, such as --drain NODE"),
        (("--drain", "n", "--drain-timeout", "soon"), "expected a duration such as"),
        (("--scale", "web=3"), "scale web=3: expected KIND/NAME"),
        (("--scale", "deploy/web=-1"), "scale deploy/web=-1: expected KIND/NAME=NUM"),
        (("--set-image", "web=i"), "set-image web=i: expected KIND/NAME"),
        (("--delete", "web"), "delete web: expected KIND/NAME"),
        (("--drain", "node-0"), "drain node-0: there is no node 'node-0'"),
        (("--apply", "none.yaml"), "none.yaml: no such file"),
        (("--set-image", "deploy/web"), "expected KIND/NAME=IMAGE"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code != 0
    assert message in result.output + str(result.exception)


SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
input:
  nodes: ["3:cpu=2,memory=8Gi,zones=3"]
  files: [web.yaml]
config: bin-packing
steps:
- {at: 1h, scale: {target: deploy/web, replicas: 5}}
- {name: all anew, after: 30m, repack: {}}
- {waitUntil: {placed: {}, timeout: 5m}}
- {delete: {target: deploy/web}}
"""


def run_what_if(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["what-if", *arguments])


def test_topology_key_that_no_node_has_is_rejected() -> None:
    keys = ("--topology-key", "topology.kubernetes.io/zoen")
    result = run("--scale", "deploy/web=1", *keys)
    assert result.exit_code == 2
    assert "did you mean 'topology.kubernetes.io/zone'?" in result.output


def test_topology_key_may_come_with_added_nodes() -> None:
    nodes = ("--add-nodes", "1:cpu=2,memory=8Gi,label:rack=a")
    assert run(*nodes, "--topology-key", "rack").exit_code == 0


def test_steps_of_a_scenario_are_changes_each_at_its_time() -> None:
    Path("grow.yaml").write_text(SCENARIO)
    document = json.loads(run_what_if("--scenario", "grow.yaml", "-o", "json").stdout)
    assert [(step["change"], step["at"]) for step in document["steps"]] == [
        ("scale deploy/web=5", 3600),
        ("all anew", 5400),
        ("delete deploy/web", 5405),
    ]
    assert [step["after"]["placed"] for step in document["steps"]] == [5, 5, 0]
    assert document["before"]["nodesUsed"] == 2
    [warning] = document["warnings"]
    assert warning["reason"] == "LeftOut"
    assert "waitUntil" in warning["message"]


def test_a_scenario_is_one_change_among_others_on_the_input_given() -> None:
    Path("grow.yaml").write_text(SCENARIO)
    result = run("--scale", "deploy/web=1", "--scenario", "grow.yaml", "--repack")
    names = ["(before)", "scale", "scale", "all", "delete", "repack"]
    assert [row[0] for row in rows(result)] == names
    assert "nodes 3 -> 3" in result.stdout


def test_an_impossible_step_is_named_with_its_file() -> None:
    Path("wrong.yaml").write_text(SCENARIO.replace("deploy/web}}", "deploy/wob}}"))
    result = run_what_if("--scenario", "wrong.yaml")
    assert isinstance(result.exception, ChangeError)
    assert str(result.exception).startswith("wrong.yaml: steps[3].delete: ")
    assert not result.stdout


def test_a_silent_node_is_noticed_as_a_cluster_does_it() -> None:
    mode = ("--fail-mode", "Unreachable")
    result = run("--fail", "node-000", *mode, "--return", "node-000", "-o", "json")
    lost, back = json.loads(result.stdout)["steps"]
    [pod] = lost["timedOut"]
    assert (pod["node"], pod["at"]) == ("node-000", 355)
    assert list(lost["stayed"]) == [pod["pod"]]
    assert (lost["after"]["nodes"], lost["after"]["placed"]) == (2, 3)
    assert (back["after"]["nodes"], back["stayed"]) == (3, {})
    table = run("--fail-zone", "zone-a", *mode).stdout
    assert "deleted at 5m55s, 5m50s later; Terminating until" in table


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("--drain", "node-999"), "drain node-999: there is no node 'node-999'"),
        (("--drain", "node-0001"), "did you mean node-001?"),
        (("--cordon", "pool=none"), "no node has the labels 'pool=none'"),
        (("--drain", "pool=a,,b"), "expected a selector such as pool=old"),
        (("--remove", "zone in a"), "expected a selector such as pool=old"),
        (("--fail-zone", "zone-x"), "(zones: zone-a, zone-b, zone-c)"),
        (("--return", "node-000"), "return node-000: there is no node 'node-000'"),
        (("--scale", "deploy/web"), "expected KIND/NAME=NUMBER"),
        (("--scale", "deploy/nope=3"), "deploy/nope=3: there is no Deployment 'nope'"),
        (("--scale", "node/node-000=3"), "expected a Deployment, StatefulSet, Replica"),
        (("--set-image", "deploy/web:x=i"), "there is no container 'x' (it has main)"),
        (("--delete", "deploy/wob"), "did you mean web?"),
        (("--add-nodes", "1:cpu=x"), "cpu: expected a quantity"),
    ],
)
def test_a_change_of_a_missing_object_is_rejected_before_any_output(
    change: tuple[str, str], problem: str
) -> None:
    result = run("--scale", "deploy/web=4", *change)
    assert isinstance(result.exception, ChangeError)
    assert problem in str(result.exception)
    assert not result.stdout


@pytest.mark.parametrize(
    ("option", "value"), [("--apply", "none.yaml"), ("--scenario", "none.yaml")]
)
def test_a_missing_file_is_named(option: str, value: str) -> None:
    result = run(option, value)
    assert isinstance(result.exception, QuaymasterError)
    assert str(result.exception).lower() == "none.yaml: no such file or directory"


def test_an_unknown_mode_of_failure_is_rejected() -> None:
    result = run("--fail", "node-000", "--fail-mode", "slow")
    assert result.exit_code == 2
    assert "'slow' is not one of 'AtOnce', 'Unreachable'" in result.stderr


def test_pods_are_listed_with_their_nodes_and_counted_per_label() -> None:
    result = run("--scale", "deploy/web=6", "--topology-key", "zone")
    assert result.stdout.count("  placed  ") == 3
    assert "topology.kubernetes.io/zone   zone-a 1, zone-b 1, zone-c 1" in result.stdout
    answer = run("--scale", "deploy/web=6", "--topology-key", "node", "-o", "json")
    [step] = json.loads(answer.stdout)["steps"]
    assert {pod["workload"] for pod in step["placed"]} == {
        "deployment.apps/default/web"
    }
    [spread] = step["spread"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert sorted(spread["after"].values()) == [2, 2, 2]


def test_of_many_placed_pods_of_a_workload_a_table_lists_twenty() -> None:
    nodes = ("--add-nodes", "1:cpu=99,memory=8Gi")
    result = run(*nodes, "--scale", "deploy/web=40")
    assert "more of deployment.apps/default/web" in result.stdout
    assert result.stdout.count(" placed ") < 30


FAILURE = ("--fail-zone", "zone-a", "--fail-zone", "zone-b")
FULL_NODES = ("--scale", "deploy/web=6", *FAILURE)


@pytest.mark.long
def test_pods_pending_for_the_same_reason_share_a_row() -> None:
    result = run(*FULL_NODES)
    pending = [line for line in result.stdout.splitlines() if "  pending  " in line]
    assert [" and 1 more " in line for line in pending[:2]] == [True, True]
    assert "not every pod has a row: -o csv and -o json list all" in result.stdout
    listed = run(*FULL_NODES, "-o", "csv").stdout
    assert listed.count(",pending,") == 4
    assert " more" not in listed


def test_table_in_which_each_pod_has_a_row_says_nothing_about_it() -> None:
    assert "not every pod" not in run("--scale", "deploy/web=4").stdout


def test_of_many_kinds_of_pending_pods_a_table_lists_those_with_most_pods() -> None:
    names = [f"w{number}" for number in range(25)]
    texts = [CLUSTER.replace("name: web", f"name: {name}") for name in names]
    more = [text.replace("replicas: 3", "replicas: 1") for text in texts[1:]]
    Path("many.yaml").write_text("---".join([*more, texts[0]]))
    result = run("--cordon", "!none", "--apply", "many.yaml")
    lines = [line for line in result.stdout.splitlines() if "  pending  " in line]
    assert len(lines) == 21
    assert "default/w0-" in lines[0]
    assert " and 2 more " in lines[0]
    assert " and 5 more pods " in lines[-1]


def test_a_workload_has_one_line_about_its_domains_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("web.yaml").write_text(CLUSTER.replace("name: web", "name: web-application"))
    monkeypatch.setattr(LINE_WIDTH, lambda _stream: 80)
    result = run("--fail-zone", "zone-a")
    lines = result.stdout.splitlines()
    [row] = [line for line in lines if line.startswith("deployment.apps/")]
    assert row.endswith("  a 1, b 1, c 1  a 0, b 2, c 1")
    assert "names of domains begin with zone-" in lines
    assert max(map(len, lines)) <= 80
