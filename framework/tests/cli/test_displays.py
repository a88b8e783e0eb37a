"""Results display themselves as their commands print them, and are data frames."""

import csv
import importlib.util
import io
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import attrs
import pyarrow as pa  # type: ignore[import-untyped]  # it has no stubs
import pytest
from click.testing import CliRunner
from rich.console import Console

from quaymaster import ApiObject
from quaymaster.errors import MissingPackageError
from quaymaster.experiments import (
    Cell,
    Contender,
    FailedRun,
    HeldOutDifference,
    Judged,
    Objective,
    Part,
    RunResult,
    SweepResult,
    Trial,
    TrialOutcome,
    TuneResult,
)
from quaymaster.manifests import load
from quaymaster.planning import Cordon, capacity, parse_node_group, plan, what_if
from quaymaster.recording import Course, ReplayResult, RerunResult
from quaymaster.simulation import (
    Estimate,
    Placement,
    Run,
    SimulationResult,
    Variant,
    compare,
    explain_pending,
    explain_pod,
    simulate,
    suggest_changes,
)
from quaymaster.testing import make_node, make_pod
from tests.kit.displays import html_of
from tests.kit.internals.cli import DISPLAYS, app
from tests.kit.scenarios import one_pod, parsed, ran

NODES = [
    make_node(
        name=f"node-{number}",
        allocatable={"cpu": "2", "memory": "4Gi", "pods": "110"},
        labels={"topology.kubernetes.io/zone": "ab"[number % 2]},
    )
    for number in range(4)
]
PODS = [make_pod(name=f"web-{number}", requests={"cpu": "1"}) for number in range(9)]
CLUSTER: Sequence[ApiObject] = (*NODES, *PODS)
TRIAL = Trial(
    number=3, fields={"weight": 2}, outcome=TrialOutcome.COMPLETE, values=(8.0,)
)
MANIFEST = """
apiVersion: v1
kind: Pod
metadata: {{name: {0}}}
spec:
  containers: [{{name: main, image: nginx, resources: {{requests: {{cpu: {1}}}}}}}]
---
"""


class Page(HTMLParser):
    """The cells of the tables of a page, and its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.elements: set[str] = set()
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.add(tag)
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def text_of(result: object, width: int = 400) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(result)
    return console.export_text()


def placed(pod: str, times: int = 1) -> SimulationResult:
    return SimulationResult(
        placements=(Placement(pod=pod, node="n", scheduler="default-scheduler"),)
        * times,
        unscheduled=(),
        preempted=(),
        pods=times,
        nodes=1,
    )


def simulated() -> object:
    return simulate(CLUSTER)


def explained() -> object:
    return explain_pod("web-8", CLUSTER, why_not="node-1")


def explanation() -> object:
    return explain_pod("web-0", CLUSTER).explanation


def pending() -> object:
    return explain_pending(CLUSTER)


def suggestions() -> object:
    return suggest_changes("web-8", CLUSTER, max_trials=2)


def compared() -> object:
    variants = [Variant(name=name, objects=CLUSTER) for name in ("a", "b")]
    return compare(variants)


def room() -> object:
    return capacity(CLUSTER).room


def planned() -> object:
    return plan(CLUSTER, groups=[parse_node_group("cpu=4,memory=8Gi")])


def swept() -> object:
    cell = Cell(
        input=Part(name="web", values={}),
        profile=Part(name="default", values={"weight": 2}),
        seed=0,
        repetition=0,
    )
    runs = ((cell, RunResult(values={"placed": 8, "wait": 0.25}, curves={})),)
    failed = FailedRun(cell=attrs.evolve(cell, seed=1), cause="no nodes")
    return SweepResult(
        folder=Path("results"),
        runs=runs,
        total=2,
        made=1,
        failed=(failed,),
        missing=0,
        seconds=1.0,
        cpu_seconds=1.0,
    )


def played() -> object:
    return ran(parsed(objects=[one_pod("web")]))


def replayed() -> object:
    return ReplayResult(decisions=(), seconds=60.0, pods=2, waiting=1)


def rerun() -> object:
    course = Course(
        placed=1,
        waiting=0,
        pending_p50=1.0,
        pending_p99=1.0,
        pending_most=1.0,
        utilisation={"cpu": 0.5},
    )
    return RerunResult(
        result=placed("default/web"), ours=course, theirs=course, seconds=60.0
    )


def changed() -> object:
    return what_if(CLUSTER, [Cordon(nodes="node-1")])


def tuned() -> object:
    objective = Objective(metric="placed", is_more_better=True)
    original, best = (
        Contender(
            name=name,
            profile=Part(name=name, values={}),
            trial=trial,
            tuned=[Estimate(mean=mean, half_width=0.5)],
            held_out=[Estimate(mean=mean)],
            differences=[
                HeldOutDifference(
                    objective=objective,
                    against="default",
                    estimate=Estimate(mean=2.0, half_width=0.5),
                )
            ]
            if trial
            else [],
        )
        for name, trial, mean in (("default", None, 6.0), ("tuned", TRIAL, 8.0))
    )
    return TuneResult(
        folder=Path("results"),
        trials=[TRIAL],
        judged=Judged(known=[original], found=[best], failed={"packing": "no nodes"}),
        files=[Path("results/tuned.yaml")],
        made=4,
        objectives=[objective],
    )


RESULTS: Final[Mapping[str, Callable[[], object]]] = {
    "SimulationResult": simulated,
    "ExplainedPod": explained,
    "Explanation": explanation,
    "PendingSummary": pending,
    "Suggestions": suggestions,
    "Comparison": compared,
    "CapacityResult": lambda: capacity(CLUSTER),
    "Room": room,
    "Plan": planned,
    "WhatIfResult": changed,
    "SweepResult": swept,
    "ScenarioResult": played,
    "ReplayResult": replayed,
    "RerunResult": rerun,
    "TuneResult": tuned,
}


@pytest.mark.parametrize("name", RESULTS)
def test_result_is_html_without_scripts_and_text_for_consoles(name: str) -> None:
    result = RESULTS[name]()
    assert type(result).__name__ == name
    page = Page(html_of(result))
    assert page.elements <= {
        *("div", "p", "em", "pre", "svg", "rect", "title"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    words = text_of(result)
    for row in page.rows:
        assert all(cell in words for cell in row), row


@pytest.mark.parametrize("name", RESULTS)
def test_result_with_rows_is_an_arrow_stream(name: str) -> None:
    result = RESULTS[name]()
    table = pa.table(result)
    assert table.equals(result.to_arrow())  # type: ignore[attr-defined]  # has rows
    assert table.num_columns > 0


def test_every_kind_of_result_has_a_display_that_a_test_tries() -> None:
    assert {kind.__name__ for kind in DISPLAYS} == {*RESULTS, "Run"}


def test_sweep_displays_its_runs_and_its_failures() -> None:
    html = html_of(swept())
    assert Page(html).rows[1] == ["web", "default", "2", "0", "0", "8", "0.25"]
    assert "no nodes</em>" in html
    assert "2 runs: 1 made, 0 done before, 1 failed" in html


def test_run_displays_its_pods_and_a_map_of_its_nodes() -> None:
    with Run(CLUSTER) as run:
        run.attempt()
        html, text = html_of(run), text_of(run)
    assert "after 0s: 1 attempt, 1 pod placed, 8 pending, 0 waiting on Permit" in html
    assert html.count("<rect ") == 4
    assert html.count('role="img"') == 2
    assert ": cpu 50%, pods &lt;1%</title>" in html
    assert "1 pod on 4 nodes" in text


def test_run_has_a_row_for_each_node() -> None:
    with Run(CLUSTER) as run:
        run.attempt()
        rows = run.to_arrow().to_pylist()
    assert [row["node"] for row in rows] == [f"node-{number}" for number in range(4)]
    assert sum(row["pods"] for row in rows) == 1


def test_tuning_displays_each_profile_and_has_a_row_for_each_objective() -> None:
    html = html_of(tuned())
    assert Page(html).rows[1:] == [
        ["default", "6 ± 0.5", "6"],
        ["tuned", "8 ± 0.5", "8"],
    ]
    assert "packing: no nodes</em>" in html
    assert pa.table(tuned()).to_pylist()[1] == {
        "profile": "tuned",
        "trial": 3,
        "objective": "placed",
        "tuned.mean": 8.0,
        "tuned.halfWidth": 0.5,
        "heldOut.mean": 8.0,
    }


def test_rerun_has_a_row_for_each_pod() -> None:
    assert pa.table(rerun()).column("pod").to_pylist() == ["default/web"]


def test_suggestions_have_a_row_for_each_change() -> None:
    table = pa.table(suggestions())
    assert table.column_names == [
        *("kinds", "text", "command", "placed", "evicted", "fields")
    ]


def test_map_marks_nodes_that_accept_no_pods() -> None:
    cordoned = make_node(name="closed", unschedulable=True)
    found = capacity([cordoned, *NODES])
    assert html_of(found).count("stroke-dasharray") == 1
    assert text_of(found).splitlines()[0] == "x"


def test_console_and_data_frame_agree_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pods = "".join(MANIFEST.format(name, cpu) for name, cpu in (("a", 1), ("b", 9)))
    Path("pods.yaml").write_text(
        pods + "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n"
        "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n"
    )
    result = simulate(load(["pods.yaml"]).objects)
    printed = CliRunner().invoke(app, ["simulate", "pods.yaml"]).stdout
    lines = [line.rstrip() for line in text_of(result).splitlines()]
    assert lines == printed.splitlines()
    table = CliRunner().invoke(app, ["simulate", "pods.yaml", "-o", "csv"]).stdout
    first, *_ = csv.reader(io.StringIO(table))
    assert result.to_arrow().column_names == first


def test_columns_have_their_types_even_without_rows() -> None:
    schema = simulate([]).to_arrow().schema
    assert schema.field("attempts").type == pa.int64()
    assert schema.field("finished").type == pa.float64()
    assert schema.field("plugins").type == pa.list_(pa.string())
    schema = capacity(CLUSTER).to_arrow().schema
    assert schema.field("resources.cpu.free").type == pa.int64()
    assert schema.field("labels.topology.kubernetes.io/zone").type == pa.string()


def test_names_are_escaped() -> None:
    result = placed("default/<b>&amp;[red]\x1b")
    html = html_of(result)
    assert "<b>" not in html
    assert "\x1b" not in html
    cells = Page(html).rows[1]
    assert cells[0].startswith("default/<b>&amp;[red]")
    assert "default/<b>&amp;[red]" in text_of(result)


def test_long_table_is_cut_with_a_note() -> None:
    result = placed("default/web", times=100)
    assert len(Page(html_of(result)).rows) == 61
    note = "60 of 100 rows are shown; to_arrow() and the attributes of this "
    assert note + "SimulationResult have all" in html_of(result)
    assert note in text_of(result)
    assert result.to_arrow().num_rows == 100


def test_warnings_are_displayed_below(tmp_path: Path) -> None:
    unplaced = make_pod(name="alone", scheduler_name="other")
    result = simulate([*NODES, unplaced])
    assert result.notices
    assert "<em>warning: " in html_of(result)


@pytest.mark.parametrize("package", ["pyarrow", "pandas"])
def test_missing_packages_are_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == package else find_spec(name) or object(),
    )
    expected = rf"^not installed: {package}; pip install 'quaymaster\[arrow\]'"
    with pytest.raises(MissingPackageError, match=expected):
        placed("default/web").to_pandas()


@pytest.mark.long
@pytest.mark.parametrize("package", ["pandas", "polars", "duckdb"])
def test_other_packages_read_results(package: str) -> None:
    module = pytest.importorskip(package)
    for name in RESULTS:
        result: Any = RESULTS[name]()
        count = result.to_arrow().num_rows
        if package == "pandas":
            assert len(result.to_pandas()) == count
            assert len(module.DataFrame.from_arrow(result)) == count
        elif package == "polars":
            assert len(module.DataFrame(result)) == count
        else:
            assert len(module.sql("select * from result").fetchall()) == count
