"""``quaymaster perf``, as a user types it."""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quaymaster import CycleState, NodeInfo, Pod, Status, hookimpl
from quaymaster.errors import QuaymasterError
from quaymaster_node_unschedulable import NodeUnschedulable
from tests.kit.internals.cli import RUN_APART, app, main
from tests.kit.internals.perf import run_workload

DATA = Path(__file__).parent / "data"

CASES = """
- name: Case
  workloadTemplate:
  - {opcode: createNodes, countParam: $nodes}
  - {opcode: createPods, countParam: $pods, collectMetrics: true}
  workloads:
  - name: fits
    featureGates: {SchedulerQueueingHints: false}
    labels: [performance]
    threshold: 0.001
    params: {nodes: 2, pods: 30}
  - name: too much
    params: {nodes: 1, pods: 111}
  - name: too slow
    threshold: 1e9
    params: {nodes: 1, pods: 1}
- name: Nothing
  workloadTemplate:
  - {opcode: createPods, count: 1, collectMetrics: true}
  workloads:
  - name: one
"""


GROUPS = """
- name: Groups
  featureGates: {GenericWorkload: false, TopologyAwareWorkloadScheduling: true}
  workloadTemplate:
  - {opcode: createPodGroups, count: 1, namespace: a, templatePath: b.yaml}
  - {opcode: createPods, count: 1, collectMetrics: true}
  workloads:
  - {name: few, labels: [performance]}
  - {name: many, labels: [performance]}
"""
REASON = "is on, but depends on gates that are off: GenericWorkload"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.yaml").write_text(CASES)
    return "cases.yaml"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run workloads in this process, which is faster than a new one."""
    monkeypatch.setattr(RUN_APART, run_workload)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ("perf", *arguments))


def results(*arguments: str) -> list[dict[str, Any]]:
    run(*arguments, "--json", "out.json")
    document: dict[str, Any] = json.loads(Path("out.json").read_text())
    assert document["version"] == "v1"
    entries: list[dict[str, Any]] = document["results"]
    return entries


@pytest.mark.long
def test_each_workload_runs_in_a_process_of_its_own_and_is_a_row(file: str) -> None:
    result = run(file)
    assert result.exit_code == 0, result.output
    heading, row = result.stdout.splitlines()
    assert heading.split()[:4] == ["WORKLOAD", "NODES", "PODS", "PODS/S"]
    assert row.split()[:3] == ["Case/fits", "2", "30"]
    assert "tenfold" in row
    assert result.stderr == ""


@pytest.mark.long
def test_a_mistake_in_a_template_comes_back_from_the_process(file: str) -> None:
    text = CASES.replace("{opcode: createNodes, ", "{opcode: createNodes, %s")
    Path(file).write_text(text % "nodeTemplatePath: none.yaml, ")
    result = run(file)
    assert isinstance(result.exception, QuaymasterError)
    assert str(result.exception) == "none.yaml: no such file or directory"


@pytest.mark.usefixtures("here")
def test_json_has_everything_that_was_measured(file: str) -> None:
    (entry,) = results(file)
    assert (entry["workload"], entry["status"]) == ("Case/fits", "done")
    assert (entry["nodes"], entry["pods"], entry["scheduled"]) == (2, 30, 30)
    throughput = entry["throughput"]
    assert 0 < throughput["p50"] <= throughput["p90"] <= throughput["p99"]
    assert throughput["average"] == pytest.approx(30 / entry["seconds"])
    assert entry["busyThroughput"] == pytest.approx(30 / entry["busySeconds"])
    assert len(throughput["rates"]) * throughput["windowSeconds"] > 0
    assert entry["threshold"] == 0.001
    assert entry["ratio"] == throughput["average"] / 0.001
    assert entry["tenfold"] is True
    assert entry["attempts"] == {"scheduled": 30}
    assert entry["attemptSeconds"]["count"] == 30
    assert entry["podSchedulingSeconds"]["p99"] > 0
    assert entry["peakRssBytes"] > 10 * 2**20
    assert entry["ignoredFeatureGates"] == {"SchedulerQueueingHints": False}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "exit_code", "message"),
    [
        ("too much", 1, "Case/too much: incomplete: operation 1 (createPods): "),
        ("too slow", 1, "Case/too slow: below the threshold"),
    ],
)
def test_the_exit_code_says_whether_all_is_well(
    file: str, name: str, exit_code: int, message: str
) -> None:
    result = run(file, "--workload", f"Case/{name}")
    assert result.exit_code == exit_code
    assert message in result.stdout


@pytest.mark.usefixtures("here")
def test_json_has_the_reason_and_what_there_is_of_what_is_not_done(file: str) -> None:
    (entry,) = results(file, "--workload", "Case/too much")
    assert entry["status"] == "incomplete"
    assert "40 of 111 pods have a node" in entry["reason"]
    assert (entry["pods"], entry["scheduled"]) == (111, 40)


def test_list_shows_workloads_without_running_any(file: str) -> None:
    result = run(file, "--list")
    assert result.exit_code == 0
    rows = [line.split("  ") for line in result.stdout.splitlines()[1:]]
    names = ["Case/fits", "Case/too much", "Case/too slow", "Nothing/one"]
    assert [row[0] for row in rows] == names


@pytest.mark.long
def test_list_finds_the_files_of_a_directory() -> None:
    result = run(str(DATA), "--list", "--label", "performance")
    assert "SchedulingBasic/5000Nodes_10000Pods " in result.stdout
    assert "EventHandlingPodUpdate/1Node_1000Pods" in result.stdout
    assert "/5Nodes " not in result.stdout


@pytest.mark.usefixtures("here")
def test_another_configuration_can_be_measured(file: str) -> None:
    assert run(file, "--config", "bin-packing").exit_code == 0
    result = run(file, "--config", "bin-pack")
    assert "did you mean 'bin-packing'?" in str(result.exception)


@pytest.mark.usefixtures("here")
def test_a_case_may_have_its_own_configuration(file: str) -> None:
    text = CASES.replace("- name: Case\n", "- name: Case\n  schedulerConfigPath: %s\n")
    Path(file).write_text(text % "own.yaml")
    Path("own.yaml").write_text("apiVersion: kubescheduler.config.k8s.io/v2")
    result = run(file)
    assert str(result.exception).startswith("own.yaml: apiVersion: expected")
    assert run(file, "--config", "default").exit_code == 0


@pytest.mark.usefixtures("here")
def test_verified_decisions_are_as_good_but_slower(file: str) -> None:
    result = run(file, "--verify", "2")
    assert result.exit_code == 0
    assert "note: one in 2 decisions was made a second time" in result.stdout


@pytest.mark.usefixtures("here")
def test_a_decision_that_cannot_be_verified_fails_its_workload(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @hookimpl
    def refuse(
        self: NodeUnschedulable, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status:
        return Status.unschedulable("the twin does not say so")

    monkeypatch.setattr(NodeUnschedulable, "filter", refuse)
    assert run(file).exit_code == 0
    result = run(file, "--verify", "1")
    assert result.exit_code == 1
    assert "Case/fits: failed: pod 'namespace-1/pod-" in result.stdout
    assert "the decision is not the one of the scalar hooks" in result.stdout


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_plot_draws_a_picture(file: str) -> None:
    assert run(file, "--plot", "out.png").exit_code == 0
    picture = Path("out.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 500 < height


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_plot_names_workloads_pods_and_thresholds(file: str) -> None:
    names = ("--workload", "Case/fits", "--workload", "Case/too slow")
    run(file, *names, "--plot", "out.svg")
    text = Path("out.svg").read_text()
    for part in ("fits", "30 pods, 2 nodes", "1 pod, 1 node", "threshold 1e+09"):
        assert part in text


@pytest.fixture
def with_groups(file: str) -> str:
    """Write a file with a test case that cannot be played."""
    Path(file).write_text(CASES + GROUPS)
    return file


def test_list_shows_why_a_workload_is_left_out(with_groups: str) -> None:
    heading, *lines = run(with_groups, "--list").stdout.splitlines()
    assert heading.endswith("LEFT OUT")
    left_out = [line for line in lines if line.endswith(REASON)]
    assert [line.split()[0] for line in left_out] == ["Groups/few", "Groups/many"]


@pytest.mark.usefixtures("here")
def test_a_case_that_cannot_be_played_leaves_out_only_itself(with_groups: str) -> None:
    result = run(with_groups)
    assert result.exit_code == 0
    _, row, last = result.stdout.splitlines()
    assert row.startswith("Case/fits")
    assert last.startswith("Groups (few, many): left out: ")
    assert last.endswith(REASON)


@pytest.mark.usefixtures("here")
def test_the_exit_code_is_1_if_all_is_left_out(with_groups: str) -> None:
    assert run(with_groups, "--workload", "Groups").exit_code == 1


@pytest.mark.usefixtures("here")
def test_json_has_what_is_left_out_with_its_reason(with_groups: str) -> None:
    done, few, many = results(with_groups)
    assert done["status"] == "done"
    assert few["status"] == many["status"] == "left out"
    assert few["reason"].endswith(REASON)
    assert "throughput" not in few


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_plot_names_what_is_left_out(with_groups: str) -> None:
    assert run(with_groups, "--plot", "out.svg").exit_code == 0
    text = Path("out.svg").read_text()
    assert "Groups (few, many): left out:" in text
    assert all(word in text for word in REASON.split())


@pytest.mark.usefixtures("here")
def test_plot_of_nothing_says_so(file: str) -> None:
    result = run(file, "--workload", "Nothing", "--plot", "out.svg")
    assert "no picture: no pod was measured" in result.stderr
    assert not Path("out.svg").exists()


def test_plot_wants_a_format_that_it_knows(file: str) -> None:
    result = run(file, "--plot", "out.jpg")
    expected = "--plot out.jpg: expected a file that ends in .png, .svg or .pdf"
    assert str(result.exception) == expected


def test_plot_says_what_to_install(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(file, "--plot", "out.png")
    assert str(result.exception).endswith("pip install 'quaymaster[plot]'")


@pytest.mark.usefixtures("here")
def test_a_file_that_cannot_be_written_is_told(file: str) -> None:
    result = run(file, "--json", "none/out.json")
    assert result.exit_code == 1
    assert "Could not open file 'none/out.json'" in result.stderr


def test_bad_input_is_exit_code_2(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["quaymaster", "perf", file, "--workload", "Case/fit"]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    expected = "Case/fit: no such workload; did you mean 'Case/fits'?\n"
    assert capsys.readouterr().err == expected
