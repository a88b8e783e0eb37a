"""``quaymaster scenario``: run, validate, schema."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from quaymaster.scenarios import ScenarioErrors
from tests.kit.internals.cli import app

SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
input: {nodes: ["2:cpu=4,memory=8Gi"]}
steps:
- name: pods
  at: 1m
  create:
    count: %s
    objects:
    - apiVersion: v1
      kind: Pod
      metadata: {name: p}
      spec:
        containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]
assertions:
- {name: all are placed, placed: {by: 5m}}
"""

OTHER = "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: r}}"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text(SCENARIO % 8)
    Path("bad.yaml").write_text(SCENARIO % 10)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["scenario", *arguments])


def test_a_scenario_that_holds_is_exit_code_0() -> None:
    done = run("run", "good.yaml")
    assert done.exit_code == 0
    assert "good: passed, 1 of 1 assertion hold" in done.stdout
    assert "8 of 8 pods placed" in done.stdout


def test_a_failed_scenario_is_exit_code_1_and_names_the_pods() -> None:
    done = run("run", "good.yaml", "bad.yaml")
    assert done.exit_code == 1
    [line] = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert "8 of 10 pods placed" in line
    assert "5m0s" in line
    assert "default/p-8, default/p-9" in line
    assert "2 pods: Insufficient cpu" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 of 2 scenarios passed"


def test_a_warning_fails_only_if_that_is_asked_for() -> None:
    text = (SCENARIO % 1).replace("input: {", f"input: {{objects: [{OTHER}], ")
    Path("odd.yaml").write_text(text)
    assert run("run", "good.yaml", "--strict").exit_code == 0
    assert run("run", "odd.yaml").exit_code == 0
    assert run("run", "odd.yaml", "--strict").exit_code == 1


def test_a_wide_table_shows_how_long_steps_took() -> None:
    lines = run("run", "good.yaml", "-o", "wide").stdout.splitlines()
    assert lines[0].split()[:5] == ["STEP", "ACTION", "BEGAN", "ENDED", "TOOK"]
    assert lines[1].split()[:5] == ["pods", "create", "1m0s", "1m0s", "0s"]
    [document] = json.loads(run("run", "good.yaml", "-o", "json").stdout)
    assert document["steps"][0]["took"] == 0


def test_results_are_documents_too() -> None:
    [document] = json.loads(run("run", "bad.yaml", "-o", "json").stdout)
    assert document["passed"] is False
    [assertion] = document["assertions"]
    assert assertion["failedAt"] == 300
    assert assertion["objects"] == ["default/p-8", "default/p-9"]
    assert document["steps"][0]["objects"] == 10


def test_junit_is_written_beside_the_output() -> None:
    done = run("run", "bad.yaml", "--junit", "junit.xml")
    assert done.exit_code == 1
    [suite] = ET.parse("junit.xml").getroot()
    assert suite.get("failures") == "1"
    assert run("run", "good.yaml", "--junit", "none/junit.xml").exit_code != 0


def test_mistakes_of_all_files_are_reported_before_any_run() -> None:
    head = "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Scenario\n"
    Path("wrong.yaml").write_text(f"{head}steps: 3\nseeds: 1\n")
    done = run("run", "good.yaml", "wrong.yaml", "none.yaml")
    assert isinstance(done.exception, ScenarioErrors)
    assert done.stdout == ""
    places = [problem.where for problem in done.exception.problems]
    assert places == ["wrong.yaml", "wrong.yaml", "none.yaml"]


def test_validate_confirms_valid_files_and_schema_prints_the_schema() -> None:
    assert run("validate", "good.yaml").stdout == "good.yaml: valid\n"
    assert json.loads(run("schema").stdout)["title"] == "Scenario"


def test_seed_and_configuration_of_the_command_line_take_precedence() -> None:
    [document] = json.loads(
        run(
            "run", "good.yaml", "--seed", "5", "--config", "bin-packing", "-o", "json"
        ).stdout
    )
    assert document["seed"] == 5
