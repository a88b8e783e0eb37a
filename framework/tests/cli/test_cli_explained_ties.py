"""``explain`` names the tie breaker that chose among equally good nodes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: nginx, resources: {requests: {cpu: "1"}}}]}
"""
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler, tieBreaker: name}]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "by-name.yaml").write_text(CONFIG)


def explained(*options: str) -> str:
    nodes = ("--nodes", "3:cpu=4,memory=16Gi")
    command = ("explain", "web", "pod.yaml", *nodes, *options)
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_tie_breaker_is_printed_unless_the_node_was_drawn() -> None:
    text = "tieBreaker name: node-000, of 3 with the highest total"
    assert text in explained("--config", "by-name.yaml")
    assert "tieBreaker" not in explained()


def test_why_not_names_the_tie_breaker_of_the_other_node() -> None:
    by_name = explained("--config", "by-name.yaml", "--why-not", "node-002")
    assert "both have the same total: tieBreaker name chose the other one" in by_name
    drawn = explained("--seed", "0").splitlines()
    [winner] = {word for line in drawn[:3] for word in line.split() if "node-" in word}
    other = next(f"node-00{n}" for n in range(3) if f"node-00{n}" != winner.strip(":,"))
    lost = explained("--seed", "0", "--why-not", other)
    assert "both have the same total: the draw chose the other one" in lost


def test_documents_name_the_tie_breaker() -> None:
    text = explained("--config", "by-name.yaml", "--output", "json")
    assert '"tieBreaker": "name"' in json.dumps(json.loads(text))
