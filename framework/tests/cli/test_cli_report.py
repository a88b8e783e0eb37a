"""``--report`` writes a page for a browser in addition to the output."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app
from tests.kit.report_pages import shown_by

BOUTIQUE = str(Path(__file__).parents[3] / "docs" / "examples" / "online-boutique")
SIMULATE = ("simulate", BOUTIQUE, "--nodes", "5:cpu=4,memory=16Gi", "-o", "name")


STEPS = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
input: {nodes: ["1:cpu=4,memory=8Gi"]}
steps:
- name: first
  at: 10s
  create:
    objects:
    - apiVersion: v1
      kind: Pod
      metadata: {name: a}
      spec: {containers: [{name: c, image: i}]}
- name: second
  at: 20s
  create:
    objects:
    - apiVersion: v1
      kind: Pod
      metadata: {name: b}
      spec: {containers: [{name: c, image: i}]}
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.mark.long
def test_simulate_writes_a_page_and_prints_its_usual_output(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.html"
    assert run(*SIMULATE, "--report", str(page)).stdout == run(*SIMULATE).stdout
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert f"<title>{BOUTIQUE}</title>" in text


@pytest.mark.long
def test_plan_writes_a_page_of_the_input_on_the_nodes_it_found(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.html"
    group = ("--node-group", "cpu=4,memory=16Gi")
    assert run("plan", BOUTIQUE, *group, "--report", str(page)).exit_code == 0
    assert "<title>Plan</title>" in page.read_text()


@pytest.mark.long
def test_compare_writes_a_page_of_all_it_compares(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    what = ("compare", "default", "bin-packing", *SIMULATE[1:4])
    assert run(*what, "--report", str(page)).exit_code == 0
    shown = shown_by(page.read_text())
    assert shown["title"] == "Comparison of default and bin-packing"
    assert [shown_run["name"] for shown_run in shown["runs"]] == [
        "default",
        "bin-packing",
    ]
    [figures] = shown["tables"]
    heads = ["Figure", "Unit", "default", "bin-packing", "Difference"]
    assert figures["columns"] == heads
    assert ["nodes_used", "nodes", "5", "1", "-4"] in figures["rows"]
    assert all(unit for _, unit, *_ in figures["rows"])


@pytest.mark.long
def test_figures_of_several_seeds_have_a_description(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    what = ("compare", "default", "bin-packing", *SIMULATE[1:4], "--seeds", "2")
    assert run(*what, "--report", str(page)).exit_code == 0
    [figures] = shown_by(page.read_text())["tables"]
    assert figures["title"].startswith("Figures: means of 2 seeds with 95 % confidence")


@pytest.mark.long
def test_what_if_shows_the_cluster_before_and_after_its_changes(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.html"
    what = ("what-if", *SIMULATE[1:4], "--scale", "deploy/frontend=9")
    assert run(*what, "--report", str(page)).stdout == run(*what).stdout
    shown = shown_by(page.read_text())
    before, after = shown["runs"]
    assert (before["name"], after["name"]) == ("before", "after")
    assert after["summary"]["placed"] == before["summary"]["placed"] + 8
    titles = [table["title"] for table in shown["tables"]]
    assert titles == ["Changes", "What happened to pods"]
    assert shown["steps"]


@pytest.mark.long
def test_what_if_shows_the_cluster_after_each_of_its_changes(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    scales = ("--scale", "deploy/frontend=3", "--scale", "deploy/frontend=2")
    run("what-if", *SIMULATE[1:4], *scales, "--report", str(page))
    shown = shown_by(page.read_text())
    names = [state["name"] for state in shown["runs"]]
    assert names == ["before", "scale deploy/frontend=3", "after"]
    before, between, _ = (state["summary"]["placed"] for state in shown["runs"])
    assert between == before + 2


@pytest.mark.long
def test_a_scenario_shows_the_cluster_after_each_of_its_steps(tmp_path: Path) -> None:
    page, file = tmp_path / "page.html", tmp_path / "scenario.yaml"
    file.write_text(STEPS)
    run("scenario", "run", str(file), "--report", str(page))
    shown = shown_by(page.read_text())
    assert shown["steps"]
    states = {state["name"]: state["summary"]["placed"] for state in shown["runs"]}
    assert states == {"before": 0, "first": 1, "second": 2}
    run("scenario", "run", str(file), str(file), "--report", str(page))
    both = shown_by(page.read_text())
    assert len(both["runs"]) == 2
    assert not both["steps"]


@pytest.fixture
def record(tmp_path: Path) -> str:
    """Return a record of pods that were spread."""
    path = str(tmp_path / "record.jsonl.gz")
    assert run(*SIMULATE, "--record", path).exit_code == 0
    return path


@pytest.mark.long
def test_replay_shows_its_decisions_and_the_scores_of_both_nodes(
    record: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    what = ("replay", record, "--config", "bin-packing")
    assert run(*what, "--report", str(page)).stdout == run(*what).stdout
    shown = shown_by(page.read_text())["replay"]
    counts = {name: count for name, _, count in shown["counts"]}
    assert sum(counts.values()) == len(shown["decisions"]["pod"]) == 12
    assert counts["differs"] > 0
    assert "which of several equally good nodes the scheduler drew" in shown["unknown"]
    both = [
        {detail["theirs"]["node"], detail["ours"]["node"]}
        == {row[0] for row in detail["scores"]}
        for detail in shown["details"].values()
        if len(detail["scores"]) == 2
    ]
    assert both
    assert all(both)


@pytest.mark.long
def test_replay_with_what_if_shows_where_ours_puts_the_pods(
    record: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    what = ("replay", record, "--what-if")
    assert run(*what, "--report", str(page)).stdout == run(*what).stdout
    shown = shown_by(page.read_text())
    [ours] = shown["runs"]
    assert ours["summary"]["placed"] == len(ours["pods"]["name"]) == 12
    [table] = shown["tables"]
    assert ["pods placed", "12", "12"] in table["rows"]


@pytest.mark.long
def test_scenarios_are_shown_as_they_ended(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    scenario = Path(BOUTIQUE).parent / "scenarios" / "zone-loss.yaml"
    result = run("scenario", "run", str(scenario), "--report", str(page))
    assert result.exit_code == 1, result.output
    assertions, steps, *_ = shown_by(page.read_text())["tables"]
    assert (assertions["title"], steps["title"]) == ("Assertions", "Steps")
    failed = [assertions["rows"][row][0] for row in assertions["failed"]]
    assert failed == ["FAIL"]
    assert steps["failed"] == []


@pytest.mark.long
def test_a_report_of_a_scenario_counts_the_pods_that_are_gone(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    scenario = Path(BOUTIQUE).parent / "scenarios" / "bad-rollout.yaml"
    result = run("scenario", "run", str(scenario), "--report", str(page))
    *states, shown = shown_by(page.read_text())["runs"]
    assert states[0]["name"] == "before"
    assert "10 of 14 pods placed" in result.stdout
    assert (shown["summary"]["placed"], shown["summary"]["pods"]) == (10, 14)


def test_a_missing_folder_is_an_error_before_the_work(tmp_path: Path) -> None:
    result = run("simulate", "no-such-file", "--report", str(tmp_path / "a" / "b.html"))
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    assert "no-such-file" not in result.stderr


def test_a_folder_as_the_file_is_an_error(tmp_path: Path) -> None:
    result = run(*SIMULATE, "--report", str(tmp_path))
    assert result.exit_code == 2
    assert "is a directory" in result.stderr


@pytest.mark.parametrize(
    "command", ["compare", "plan", "replay", "simulate", "what-if"]
)
def test_help_of_commands_with_a_report_lists_the_option(command: str) -> None:
    assert "--report FILE.html" in run(command, "--help").stdout
