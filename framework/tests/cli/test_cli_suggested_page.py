"""``capacity --report --suggest`` shows changes that place the pending pods."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app
from tests.kit.report_pages import shown_by

INPUT = """
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ("capacity", *arguments))


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    file = tmp_path / "input.yaml"
    file.write_text(INPUT)
    return str(file)


@pytest.mark.long
def test_changes_are_on_the_page_with_the_pods_that_they_place(
    manifest: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    result = run(manifest, "--report", str(page), "--suggest")
    assert result.exit_code == 0, result.output
    shown = shown_by(page.read_text())
    [change] = shown["suggestions"]["changes"]
    assert change["text"].startswith("add 2 nodes like a; ")
    assert change["effect"] == "places 2 pods"
    [pods] = [state["pods"] for state in shown["runs"]]
    names = zip(pods["name"], pods["node"], strict=True)
    pending = [f"default/{name}" for name, node in names if node < 0]
    assert sorted(change["pods"]) == sorted(pending)


@pytest.mark.long
def test_without_the_option_no_change_is_searched_for(
    manifest: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert run(manifest, "--report", str(page)).exit_code == 0
    assert shown_by(page.read_text())["suggestions"] is None


def test_changes_need_a_page_and_a_simulation(manifest: str, tmp_path: Path) -> None:
    page = ("--report", str(tmp_path / "page.html"))
    assert "--suggest needs --report" in run(manifest, "--suggest").stderr
    both = run(manifest, *page, "--suggest", "--as-it-stands")
    assert "--suggest excludes --as-it-stands" in both.stderr
