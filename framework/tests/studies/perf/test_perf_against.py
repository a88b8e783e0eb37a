"""Results are compared with earlier ones: faster, slower, or noise."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app
from tests.kit.internals.perf import PerfErrors
from tests.kit.results import checked_result

WORKLOAD = """\
- name: Small
  defaultPodTemplatePath: pod.yaml
  workloadTemplate:
    - {opcode: createNodes, countParam: $nodes}
    - {opcode: createPods, countParam: $pods, collectMetrics: true}
  workloads:
    - {name: 2Nodes, params: {nodes: 2, pods: 3}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {generateName: pod-}
spec: {containers: [{name: main, image: x}]}
"""
NAME = "Small/2Nodes"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("performance-config.yaml").write_text(WORKLOAD)
    Path("pod.yaml").write_text(POD)


def perf(*arguments: str) -> Result:
    return CliRunner().invoke(
        app, ["perf", "performance-config.yaml", "--workload", NAME, *arguments]
    )


def earlier(*speeds: float, workload: str = NAME, name: str = "namespace-1") -> None:
    """Write an earlier result with runs of these speeds."""
    results = [
        {"workload": workload, "name": name, "busyThroughput": speed}
        for speed in speeds
    ]
    document = {"version": "v1", "results": results}
    Path("before.json").write_text(json.dumps(document))


def measured_name() -> str:
    assert perf("--json", "result.json").exit_code == 0
    [entry] = json.loads(Path("result.json").read_text())["results"]
    return str(entry["name"])


@pytest.mark.long
def test_csv_has_a_row_for_each_measurement_of_each_run() -> None:
    earlier(1.0, name=measured_name())
    result = perf("--repeat", "2", "--against", "before.json", "-o", "csv")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [(row["workload"], row["run"]) for row in rows] == [(NAME, "1"), (NAME, "2")]
    assert {row["against.verdict"] for row in rows} == {"too few runs"}
    assert float(rows[0]["throughput.average"]) > 0
    assert rows[0]["reason"] == ""


def test_listed_workloads_are_rows_too() -> None:
    result = perf("--list", "-o", "csv")
    [row] = csv.DictReader(result.stdout.splitlines())
    assert row == {
        "workload": NAME,
        "threshold": "",
        "labels": "",
        "file": row["file"],
        "leftOut": "",
    }
    assert row["file"].endswith("performance-config.yaml")


@pytest.mark.long
@pytest.mark.parametrize(
    ("speeds", "verdict"),
    [
        ([1e9, 1e9, 1e9], "slower"),
        ([1e-3, 1e-3, 1e-3], "faster"),
        ([1e-3, 1.0, 1e9], "noise"),
        ([1e9, 1e9], "too few runs"),
    ],
)
def test_the_spread_of_the_runs_decides(speeds: list[float], verdict: str) -> None:
    earlier(*speeds, name=measured_name())
    done = perf("--repeat", "3", "--against", "before.json", "--json", "result.json")
    assert done.exit_code == 0, done.output
    assert done.stdout.rstrip().endswith(verdict)
    document = json.loads(Path("result.json").read_text())
    checked_result("perf", document)
    assert [result["run"] for result in document["results"]] == [1, 2, 3]
    [found] = document["against"]
    assert found["verdict"] == verdict
    assert found["least"] <= found["ratio"] <= found["most"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        ("nodes: 1", "expected what 'quaymaster perf --json' writes: "),
        ('{"version": "v2", "results": []}', "version: expected 'v1', got 'v2'"),
        ('{"version": "v1", "results": []}', "expected measurements, got none"),
    ],
    ids=["missing", "no JSON", "version", "empty"],
)
def test_a_file_without_results_is_an_error_before_any_run(
    text: str | None, message: str
) -> None:
    if text is not None:
        Path("before.json").write_text(text)
    done = perf("--against", "before.json", "--json", "result.json")
    assert isinstance(done.exception, PerfErrors)
    assert str(done.exception).startswith(f"--against before.json: {message}")
    assert not Path("result.json").exists()


def test_results_of_other_workloads_are_rejected_before_any_run() -> None:
    earlier(1.0, workload="Large/9Nodes")
    done = perf("--against", "before.json", "--json", "result.json")
    assert isinstance(done.exception, PerfErrors)
    expected = "--against before.json: has none of these workloads, but Large/9Nodes"
    assert str(done.exception) == expected
    assert not Path("result.json").exists()


@pytest.mark.long
def test_other_measurements_of_a_workload_are_not_compared() -> None:
    earlier(1.0, name="other")
    done = perf("--against", "before.json")
    assert done.exit_code == 0
    message = "--against before.json and this run have no measurement in common"
    assert message in done.stderr
