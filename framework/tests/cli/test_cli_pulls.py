"""``--pull`` lets pods wait for their images."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app

OBJECTS = """
apiVersion: v1
kind: Node
metadata: {name: cold}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: warm}
spec: {unschedulable: true}
status:
  allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
  images: [{names: ["docker.io/library/postgres:17"], sizeBytes: 104857600}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: "postgres:17"}, {name: log, image: log:1}]}
"""
SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
startup: 1s
pull: 10Mi
input: {files: [objects.yaml]}
assertions:
- {name: early, placed: {pods: {selector: app=db}, by: 10s, atLeast: 2}}
- {name: late, placed: {pods: {selector: app=db}, by: 12s, atLeast: 2}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "objects.yaml").write_text(OBJECTS)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_the_output_states_once_how_images_are_pulled() -> None:
    result = run("simulate", "objects.yaml", "--pull", "20Mi")
    assert result.stderr.count("nodes pull images at 20Mi per second") == 1
    assert "1 image whose size no node reports takes no time" in result.stderr
    assert "docker.io/library/log:1" in result.stderr
    assert "pull images" not in run("simulate", "objects.yaml").stderr


@pytest.mark.parametrize("rate", ["fast", "0", "-1Mi"])
def test_a_rate_is_an_amount_of_bytes(rate: str) -> None:
    result = run("simulate", "objects.yaml", "--pull", rate)
    assert result.exit_code == 2
    assert f"expected bytes per second such as 50Mi, got '{rate}'" in result.stderr


def test_the_next_replica_waits_for_the_image_of_the_first(folder: Path) -> None:
    (folder / "scenario.yaml").write_text(SCENARIO)
    result = run("scenario", "run", "scenario.yaml", "-o", "json")
    (scenario,) = json.loads(result.stdout)
    held = {entry["name"]: entry["passed"] for entry in scenario["assertions"]}
    assert held == {"early": False, "late": True}
