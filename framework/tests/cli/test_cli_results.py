"""Output of ``simulate`` and ``explain``: formats, orders, attempts, widths."""

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from quaymaster.manifests import Notice, NoticeReason
from tests.kit.internals.cli import LINE_WIDTH, app, print_notices

POD = """
apiVersion: v1
kind: Pod
metadata:
  name: %s
  annotations: {simulation.quaymaster.io/run-seconds: "90"}
spec:
  containers:
  - {name: main, image: nginx, resources: {requests: {cpu: %s}}}
---
"""
ONE_NODE = ("--nodes", "1:cpu=4,memory=8Gi")
LEAVING = """
apiVersion: v1
kind: Pod
metadata:
  name: leaving
  deletionTimestamp: "2020-01-01T00:00:00Z"
  deletionGracePeriodSeconds: 30
spec:
  nodeName: node-000
  containers:
  - {name: main, image: nginx, resources: {requests: {cpu: 4}}}
status: {phase: Running}
"""


@pytest.fixture
def pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pods.yaml").write_text(
        "".join(POD % pod for pod in (("p-10", 3), ("p-9", 3), ("large", 9)))
    )
    return "pods.yaml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_wide_shows_scheduler_attempts_and_times(pods: str) -> None:
    lines = words(run("simulate", pods, *ONE_NODE, "-o", "wide").stdout)
    assert lines[0] == [
        "POD",
        "NODE",
        "SCHEDULER",
        "ATTEMPTS",
        "CREATED",
        "BOUND",
        "FINISHED",
    ]
    first, second = lines[1:3]
    assert first[2:] == ["default-scheduler", "1", "0s", "0s", "1m30s"]
    assert second[2:] == ["default-scheduler", "2", "0s", "1m30s", "3m0s"]
    assert lines[-1] == ["makespan:", "3m0s", "of", "virtual", "time"]


def test_name_prints_each_pod_as_kubectl_names_it(pods: str) -> None:
    result = run("simulate", pods, *ONE_NODE, "-o", "name")
    assert result.stdout.splitlines() == ["pod/p-10", "pod/p-9", "pod/large"]


@pytest.mark.parametrize("key", ["name", "pod"])
def test_numbers_in_names_are_sorted_as_numbers(pods: str, key: str) -> None:
    result = run("simulate", pods, *ONE_NODE, "-o", "name", "--sort-by", key)
    assert result.stdout.splitlines() == ["pod/p-9", "pod/p-10", "pod/large"]


@pytest.mark.parametrize(
    "key", ["time", "node", "scheduler", "created", "finished", "attempts"]
)
def test_every_other_order_leaves_equal_pods_as_they_are(pods: str, key: str) -> None:
    result = run("simulate", pods, *ONE_NODE, "-o", "name", "--sort-by", key)
    assert result.stdout.splitlines() == ["pod/p-10", "pod/p-9", "pod/large"]


def test_reasons_are_summed_up_at_the_end(pods: str) -> None:
    lines = run("simulate", pods, "--nodes", "1:cpu=1,memory=1Gi").stdout.splitlines()
    assert lines[-2:] == [
        "0 of 3 pods placed on 1 node, 3 unscheduled",
        "3 pods: Insufficient cpu",
    ]


def test_warnings_of_the_configuration_are_warnings_of_the_result(pods: str) -> None:
    Path("config.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {preEnqueue: {disabled: [{name: NoSuch}]}}}]\n"
    )
    arguments = ("simulate", pods, *ONE_NODE, "--config", "config.yaml")
    result = run(*arguments, "-o", "json", "--strict")
    [warning] = json.loads(result.stdout)["warnings"]
    assert warning["reason"] == "Configuration"
    assert warning["where"] == "config.yaml"
    assert result.stderr.startswith("warning: config.yaml: profiles[0].plugins.")
    assert result.exit_code == 1
    assert run("config", "validate", "config.yaml").exit_code == 0
    assert run("config", "validate", "config.yaml", "--strict").exit_code == 1


def test_only_some_of_many_equal_warnings_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason = NoticeReason.MISSING_PODS
    print_notices(
        Notice(reason=reason, where=f"f{number}", message="no template")
        for number in range(50)
    )
    assert capsys.readouterr().err.splitlines() == [
        "warning: f0: no template",
        "warning: f1: no template",
        "warning: f2: no template",
        "warning: and 47 more: no template",
    ]


def test_explain_names_the_attempt(pods: str) -> None:
    text = run("explain", "p-9", pods, *ONE_NODE).stdout
    assert "attempt 2 of 2, after 1m30s" in text
    first = run("explain", "p-9", pods, *ONE_NODE, "--attempt", "first").stdout
    assert first.startswith("default/p-9: unschedulable\n0/1 nodes are available: ")
    everything = run("explain", "p-9", pods, *ONE_NODE, "--attempts", "all").stdout
    assert "attempt 1 of 2, after 0s" in everything
    assert "attempt 2 of 2, after 1m30s" in everything


def test_explain_marks_the_current_decision_beside_terminating_pods(pods: str) -> None:
    Path("leaving.yaml").write_text(LEAVING)
    arguments = ("explain", "p-9", pods, "leaving.yaml", *ONE_NODE)
    text = run(*arguments).stdout
    assert "after 0s: the decision with 1 terminating pod" in text
    document = json.loads(run(*arguments, "-o", "json").stdout)
    assert (document["attempt"], document["terminating"]) == (1, 1)
    assert document["rejections"][0]["reasons"] == ["Insufficient cpu"]
    assert [attempt["outcome"] for attempt in document["attempts"]][-1] == "scheduled"


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "1.5"])
def test_impossible_attempt_number_is_rejected(pods: str, wrong: str) -> None:
    result = run("explain", "p-9", pods, *ONE_NODE, "--attempt", wrong)
    assert result.exit_code == 2
    assert "expected a number from 1, or one of" in result.stderr


def test_explain_shows_the_best_nodes_and_sums_up_the_rest(pods: str) -> None:
    nodes = ("--nodes", "30:cpu=4,memory=8Gi", "--nodes", "40:cpu=1,memory=1Gi,name=s")
    arguments = ("explain", "p-10", pods, *nodes)
    lines = words(run(*arguments, "--top", "4").stdout)
    assert len([line for line in lines if line[:1] and "->" in line]) == 5
    assert ["and", "26", "more", "nodes", "that", "fit"] in lines
    rejected = ["40", "NodeResourcesFit", "Insufficient", "cpu;"]
    (group,) = (line for line in lines if line[:4] == rejected)
    assert group[-3:] == ["s-000,", "s-001,", "s-002"]
    document = json.loads(run(*arguments, "-o", "json").stdout)
    assert (len(document["scores"]), len(document["rejections"])) == (30, 40)
    assert document["scores"][0]["node"] == document["node"]
    shown = run(*arguments, "--top", "0").stdout
    assert shown.count("NodeResourcesFit   Insufficient cpu") == 40


def test_explain_of_a_bound_pod_suggests_a_command(pods: str) -> None:
    Path("bound.yaml").write_text(
        (POD % ("bound", 1)).replace("spec:", "spec:\n  nodeName: node-000")
    )
    arguments = ("explain", "bound", pods, "bound.yaml", *ONE_NODE)
    assert "--unbind shows" in run(*arguments).stdout
    assert "scheduled on node-000" in run(*arguments, "--unbind").stdout


def test_explain_looks_in_a_namespace(pods: str) -> None:
    result = run("explain", "p-9", pods, *ONE_NODE, "-n", "blue")
    assert result.stdout.startswith("blue/p-9: scheduled")


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("arguments", [("explain", "p-9"), ("simulate",)])
def test_every_line_fits_a_narrow_terminal(
    pods: str,
    width: int,
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lines() -> list[str]:
        return run(*arguments, pods, *ONE_NODE).stdout.splitlines()

    monkeypatch.setattr(LINE_WIDTH, lambda _stream: width)
    assert max(map(len, lines())) <= width


def test_wide_tables_are_the_same_on_a_terminal_and_on_a_pipe(
    pods: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def table() -> list[str]:
        return run("simulate", pods, *ONE_NODE, "-o", "wide").stdout.splitlines()[:6]

    whole = table()
    monkeypatch.setattr(LINE_WIDTH, lambda _stream: 40)
    assert table() == whole


@pytest.mark.parametrize(
    ("arguments", "incomplete", "expected"),
    [
        (["simulate", "--config"], "b", ["batch", "bin-packing", "bravo.yaml"]),
        (["config", "validate"], "sp", ["spreading"]),
        (["simulate", "--custom-kinds"], "j", ["jobset"]),
        (["simulate", "--validate"], "", ["strict", "warn", "ignore"]),
        (["explain"], "da", ["daemonset/"]),
        (["explain", "p", "f", "--attempt"], "l", ["last"]),
        (["simulate", "f", "-o"], "w", ["wide"]),
        (["simulate", "f", "--sort-by"], "no", ["node"]),
        (["completion"], "z", ["zsh"]),
        ([], "ex", ["explain", "extender"]),
    ],
)
@pytest.mark.usefixtures("pods")
def test_shells_complete_known_values(
    arguments: list[str], incomplete: str, expected: list[str]
) -> None:
    Path("bravo.yaml").touch()
    Path("bravo.txt").touch()
    shell = ShellComplete(app, {}, "quaymaster", "_QUAYMASTER_COMPLETE")
    items = shell.get_completions(arguments, incomplete)
    assert [item.value for item in items] == expected


def test_shells_complete_files_if_no_profile_matches() -> None:
    shell = ShellComplete(app, {}, "quaymaster", "_QUAYMASTER_COMPLETE")
    [item] = shell.get_completions(["simulate", "--config"], "./conf")
    assert item.type == "file"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str) -> None:
    assert "_QUAYMASTER_COMPLETE" in run("completion", shell).stdout


def test_plugins_are_listed_by_name_alone() -> None:
    listed = run("plugins", "list", "-o", "name").stdout.split()
    assert "NodeResourcesFit" in listed
    assert listed == sorted(listed)


def test_version_is_an_option_too() -> None:
    assert run("--version").stdout == run("version").stdout
