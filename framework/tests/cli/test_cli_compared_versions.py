"""``compare`` of two virtual environments, with two versions of a plugin."""

import json
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quaymaster.simulation import EnvironmentFailedError
from tests.kit.internals.cli import app
from tests.kit.packages import install
from tests.kit.report_pages import shown_by

PLUGIN = """
from quaymaster import NodeInfo, hookimpl


class Favourite:
    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 100 if node.name == "{node}" else 0
"""
PROJECT = """
[project]
name = "favourite"
version = "{version}"
[project.entry-points."quaymaster.plugins"]
Favourite = "favourite:Favourite"
"""
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Favourite, weight: 5}]}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: nginx}]}
"""
GIVEN = ("pod.yaml", "--nodes", "3:cpu=4,memory=8Gi", "--config", "favourite.yaml")


def make_environment(name: str, version: str, node: str) -> None:
    """Create a virtual environment with a version of the plugin that prefers a node."""
    venv.create(name, with_pip=False, symlinks=True)
    [site] = Path(name).glob("lib/python*/site-packages")
    installed = sysconfig.get_path("purelib")
    (site / "all.pth").write_text(f"import site; site.addsitedir({installed!r})\n")
    package = Path(f"favourite-{version}")
    (package / "src").mkdir(parents=True)
    (package / "pyproject.toml").write_text(PROJECT.format(version=version))
    (package / "src" / "favourite.py").write_text(PLUGIN.format(node=node))
    install(package.resolve(), site.resolve())


def favourite_of(run: dict[str, Any]) -> tuple[str, int]:
    """Return the node of a run's pod and the plugin's weighted score of it."""
    [attempt] = run["attempts"]
    [(node, _, scores), *_] = attempt["scores"]
    assert node == run["nodes"]["name"][run["pods"]["node"][0]]
    _, _, weighted = scores[attempt["plugins"].index("Favourite")]
    return node, weighted


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pod.yaml").write_text(POD)
    Path("favourite.yaml").write_text(CONFIG)
    make_environment("old", "1.0", "node-001")
    make_environment("new", "2.0", "node-002")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments])


@pytest.mark.long
def test_both_versions_are_compared_without_the_plugin_in_this_process() -> None:
    result = run("old", "new", *GIVEN, "-o", "json", "--report", "page.html")
    assert result.exit_code == 0, result.output
    [difference] = json.loads(result.stdout)["differences"]
    first = difference["firstDifference"]
    assert first["first"]["node"] == "node-001"
    assert first["other"]["node"] == "node-002"
    shown = shown_by(Path("page.html").read_text())
    assert shown["title"] == "Comparison of old and new"
    favourites = {
        shown_run["name"]: favourite_of(shown_run) for shown_run in shown["runs"]
    }
    assert favourites == {"old": ("node-001", 500), "new": ("node-002", 500)}
    [figures] = shown["tables"]
    assert ["placed", "pods", "1", "1", "0"] in figures["rows"]


def test_variant_of_this_process_needs_the_plugin_here() -> None:
    result = run("old", *GIVEN)
    assert "unknown plugin 'Favourite'" in str(result.exception)


@pytest.mark.long
def test_configuration_errors_of_an_environment_are_reported() -> None:
    Path("favourite.yaml").write_text(CONFIG.replace("Favourite", "Favorite"))
    result = run("old", "new", *GIVEN)
    assert isinstance(result.exception, EnvironmentFailedError)
    assert "old: favourite.yaml: profiles[0]" in str(result.exception)
    assert "did you mean 'Favourite'" in str(result.exception)
