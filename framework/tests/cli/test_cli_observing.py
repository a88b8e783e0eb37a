"""``simulate --timings`` and ``simulate --trace``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster import Handle, Status, hookimpl
from tests.kit.internals.cli import app
from tests.kit.packages import MakeDistribution
from tests.kit.report_pages import shown_by

PODS = """
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: main, image: nginx}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b, namespace: web}
spec: {containers: [{name: main, image: nginx}]}
"""


COUNTS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - plugins:
      multiPoint:
        enabled:
          - name: Counts
"""


class Counts:
    """Counts the calls of its filter."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.filters = handle.counter("filters_total", "Calls of filter.")
        self.sizes = handle.histogram("sizes", "Sizes.", buckets=[1])

    @hookimpl
    def filter(self) -> Status | None:
        self.filters.add()
        self.sizes.observe(2)
        return None


@pytest.fixture
def pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pods.yaml").write_text(PODS)
    return "pods.yaml"


def simulate(*arguments: str) -> Result:
    nodes = ("--nodes", "2:cpu=4,memory=8Gi")
    return CliRunner().invoke(app, ["simulate", *arguments, *nodes])


def test_timings_are_a_table_behind_the_result(pods: str) -> None:
    lines = simulate(pods, "--timings").stdout.splitlines()
    placed = lines.index("2 of 2 pods placed on 2 nodes, 0 unscheduled")
    headings = "HOOK CALLS TOTAL SHARE P50 P99"
    table = [line.split() for line in lines[placed + 2 :]]
    assert table[0] == headings.split()
    [bind] = [row for row in table if row[:2] == ["DefaultBinder", "bind"]]
    assert bind[2] == "2"
    assert all(time.endswith("s") for time in (bind[3], *bind[5:]))
    assert " calls of hooks took " in lines[-1]


def test_timings_are_part_of_the_document(pods: str) -> None:
    document = json.loads(simulate(pods, "--timings", "-o", "json").stdout)
    timings = document["timings"]
    assert timings["run"] > timings["seconds"] > 0
    assert timings["calls"] == sum(hook["calls"] for hook in timings["hooks"])
    assert sum(hook["share"] for hook in timings["hooks"]) == pytest.approx(1.0)
    [bind] = [hook for hook in timings["hooks"] if hook["hook"] == "bind"]
    assert {**bind, "plugin": "DefaultBinder", "calls": 2} == bind
    assert bind["mean"] == pytest.approx(bind["seconds"] / 2)
    assert bind["p50"] <= bind["p99"] <= bind["longest"] <= bind["seconds"]


def test_metrics_of_plugins_are_part_of_the_timings(
    pods: str, make_distribution: MakeDistribution, tmp_path: Path
) -> None:
    make_distribution("acme-counts", {"Counts": f"{__name__}:Counts"})
    (tmp_path / "counts.yaml").write_text(COUNTS)
    options = (pods, "--timings", "--config", "counts.yaml")
    document = json.loads(simulate(*options, "-o", "json").stdout)
    [filters, sizes] = document["timings"]["pluginMetrics"]
    labels = {"profile": "default-scheduler"}
    assert filters["name"] == "quaymaster_counts_filters_total"
    assert filters["plugin"] == "Counts"
    assert (filters["labels"], filters["value"]) == (labels, 4)
    assert sizes["value"] == 8
    assert sizes["buckets"] == [{"upTo": 1.0, "count": 0}, {"upTo": None, "count": 4}]
    lines = simulate(*options).stdout.splitlines()
    assert lines[-3].split() == ["METRIC", "VALUE"]
    assert lines[-2].split()[-1] == "4"


@pytest.mark.long
def test_metrics_of_plugins_are_a_table_of_the_report(
    pods: str, make_distribution: MakeDistribution, tmp_path: Path
) -> None:
    make_distribution("acme-counts", {"Counts": f"{__name__}:Counts"})
    (tmp_path / "counts.yaml").write_text(COUNTS)
    simulate(pods, "--config", "counts.yaml", "--report", "page.html")
    [table] = shown_by((tmp_path / "page.html").read_text())["tables"]
    labels = 'profile="default-scheduler"'
    assert table["rows"] == [
        ["quaymaster_counts_filters_total", labels, 4, None, None, None],
        ["quaymaster_counts_sizes", labels, None, 4, 8, 2],
    ]


def test_without_the_option_there_are_no_timings(pods: str) -> None:
    assert "timings" not in json.loads(simulate(pods, "-o", "json").stdout)
    assert "P99" not in simulate(pods).stdout


def test_names_alone_leave_no_room_for_timings(pods: str) -> None:
    result = simulate(pods, "--timings", "-o", "name")
    assert result.exit_code == 2
    assert "--timings cannot be printed by -o name" in result.stderr


def test_a_trace_goes_to_standard_error_and_leaves_the_result_alone(pods: str) -> None:
    result = simulate(pods, "--trace", "queue,cache", "-o", "json")
    assert result.stdout == simulate(pods, "-o", "json").stdout
    lines = result.stderr.splitlines()
    assert {line.split()[0] for line in lines} == {"trace=queue", "trace=cache"}


def test_one_pod_is_traced_on_all_topics(pods: str) -> None:
    lines = simulate(pods, "--trace", "pod=web/b").stderr.splitlines()
    topics = {line.split()[0] for line in lines}
    assert topics == {"trace=plugin", "trace=queue", "trace=cache"}
    assert all(" pod=web/b " in f"{line} " for line in lines)


def test_options_of_a_trace_add_up(pods: str) -> None:
    result = simulate(pods, "--trace", "queue", "--trace", "cache,pod=a")
    lines = result.stderr.splitlines()
    assert {line.split()[0] for line in lines} == {"trace=queue", "trace=cache"}
    assert all(" pod=default/a " in f"{line} " for line in lines)


def test_an_unknown_pod_to_trace_is_an_error(pods: str) -> None:
    stderr = simulate(pods, "--trace", "pod=web/a").stderr
    assert stderr == "--trace: no event of pod web/a was logged\n"


@pytest.mark.parametrize("wrong", ["hooks", "", "pod=", "queue,"])
def test_an_unknown_topic_is_rejected(pods: str, wrong: str) -> None:
    result = simulate(pods, "--trace", wrong)
    assert result.exit_code == 2
    expected = "expected plugin, queue, cache or pod=NAMESPACE/NAME, got "
    assert expected in " ".join(result.stderr.split())


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        ["--record", "run.jsonl"],
        ["--capacity"],
        ["--report", "run.html"],
        ["--record", "run.jsonl", "--capacity", "--report", "run.html"],
    ],
    ids=" ".join,
)
def test_timings_count_one_simulation_whatever_else_is_written(
    pods: str, options: list[str]
) -> None:
    def calls(*more: str) -> object:
        document = json.loads(simulate(pods, "--timings", "-o", "json", *more).stdout)
        hooks = document["timings"]["hooks"]
        return sorted((row["plugin"], row["hook"], row["calls"]) for row in hooks)

    assert calls(*options) == calls()
