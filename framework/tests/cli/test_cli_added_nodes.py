"""``simulate --autoscaler`` prints the nodes that came and went."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster.config import ConfigErrors
from tests.kit.internals.cli import app

AUTOSCALER = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: ClusterAutoscaler
groups:
- {name: small, max: 4, price: 0.5, resources: {cpu: 2, memory: 8Gi}}
"""
PODS = """
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
      - {name: main, image: x, resources: {requests: {cpu: 900m}}}
"""


def simulate(folder: Path, text: str = AUTOSCALER, *options: str) -> Result:
    (folder / "autoscaler.yaml").write_text(text)
    (folder / "web.yaml").write_text(PODS)
    files = [str(folder / "web.yaml"), "--autoscaler", str(folder / "autoscaler.yaml")]
    return CliRunner().invoke(app, ["simulate", *files, *options])


@pytest.mark.long
def test_table_has_the_nodes_with_their_reasons(tmp_path: Path) -> None:
    result = simulate(tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "3 of 3 pods placed on 2 nodes" in result.stdout
    assert "small-1   small   10.1s     1m40.1s" in result.stdout
    assert "and 2 others" in result.stdout
    assert "GROUP OF NODES" in result.stdout


@pytest.mark.long
def test_json_has_all_nodes_and_groups(tmp_path: Path) -> None:
    document = json.loads(simulate(tmp_path, AUTOSCALER, "-o", "json").stdout)
    [group] = document["autoscaler"]["groups"]
    assert (group["first"], group["last"], group["added"]) == (0, 2, 2)
    assert group["cost"] == sum(
        node["cost"] for node in document["autoscaler"]["nodes"]
    )


def test_without_the_option_nothing_is_printed_about_it(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(PODS)
    result = CliRunner().invoke(
        app, ["simulate", str(tmp_path / "web.yaml"), "-o", "json"]
    )
    assert "autoscaler" not in json.loads(result.stdout)


def test_wrong_file_fails_before_anything_is_printed(tmp_path: Path) -> None:
    result = simulate(tmp_path, AUTOSCALER.replace("max: 4", "max: four"))
    assert isinstance(result.exception, ConfigErrors)
    assert "groups[0].max: expected an integer" in str(result.exception)
    assert result.stdout == ""


@pytest.mark.long
def test_change_of_a_cluster_brings_and_removes_nodes(tmp_path: Path) -> None:
    (tmp_path / "autoscaler.yaml").write_text(AUTOSCALER)
    (tmp_path / "web.yaml").write_text(PODS)
    options = ["--scale", "deploy/web=6", "--scale", "deploy/web=0", "-o", "json"]
    result = CliRunner().invoke(
        app,
        [
            "what-if",
            str(tmp_path / "web.yaml"),
            "--autoscaler",
            str(tmp_path / "autoscaler.yaml"),
            *options,
        ],
    )
    document = json.loads(result.stdout)
    [group] = document["autoscaler"]["groups"]
    assert [step["after"]["nodes"] for step in document["steps"]] == [3, 0]
    assert (group["added"], group["removed"]) == (3, 3)


@pytest.mark.long
def test_scenario_has_an_autoscaler(tmp_path: Path) -> None:
    (tmp_path / "autoscaler.yaml").write_text(AUTOSCALER)
    (tmp_path / "web.yaml").write_text(PODS)
    scenario = tmp_path / "growth.yaml"
    scenario.write_text(
        "apiVersion: simulation.quaymaster.io/v1alpha1\n"
        "kind: Scenario\n"
        "input: {files: [web.yaml]}\n"
        "steps:\n- {at: 5m, scale: {target: deploy/web, replicas: 8}}\n"
    )
    files = [str(scenario), "--autoscaler", str(tmp_path / "autoscaler.yaml")]
    result = CliRunner().invoke(app, ["scenario", "run", *files])
    assert result.exit_code == 0, result.stderr
    assert "small            0       4      4" in result.stdout
