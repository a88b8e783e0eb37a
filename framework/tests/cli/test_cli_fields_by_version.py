"""The option ``--kubernetes`` decides which fields manifests may have."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  evictionResponders: [{name: example.com/a, priority: 10000}]
  containers: [{name: main, image: nginx}]
"""
SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
kubernetesVersion: "%s"
input: {nodes: ["1:cpu=4,memory=8Gi"], files: [pod.yaml]}
"""
PLACE = "pod.yaml (Pod default/web): spec.evictionResponders"
DROPPED = (
    f"warning: {PLACE}: dropped, as the feature gate EvictionRequestAPI is off in "
    "Kubernetes 1.37\n"
)
UNKNOWN = f"{PLACE}: unknown field; known since 1.37\n"
INPUT = ("pod.yaml", "--nodes", "1:cpu=4,memory=8Gi")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pod.yaml").write_text(POD)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def outcome(*arguments: str) -> str:
    """Return the error of a command, or its warnings."""
    result = run(*arguments)
    return f"{result.exception}\n" if result.exception else result.stderr


@pytest.mark.parametrize("command", [("simulate",), ("explain", "web"), ("capacity",)])
def test_field_of_a_later_version_is_unknown(command: tuple[str, ...]) -> None:
    assert outcome(*command, *INPUT, "--kubernetes", "1.36") == UNKNOWN


def test_field_whose_gate_is_off_is_dropped_with_a_warning() -> None:
    result = run("simulate", *INPUT)
    assert (result.exit_code, result.stderr) == (0, DROPPED)
    assert "1 of 1 pods placed" in result.stdout


def test_input_of_a_comparison_has_the_fields_of_the_newest_version() -> None:
    versions = ("--kubernetes", "1.36", "--kubernetes", "1.37")
    result = run("compare", *INPUT, *versions)
    assert (result.exit_code, result.stderr) == (0, DROPPED)


@pytest.mark.parametrize(("version", "finding"), [("1.36", UNKNOWN), ("1.37", DROPPED)])
def test_applied_manifests_have_the_fields_of_the_version(
    version: str, finding: str
) -> None:
    Path("node.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: a}}")
    arguments = ("what-if", "node.yaml", "--apply", "pod.yaml")
    assert finding in outcome(*arguments, "--kubernetes", version)


@pytest.mark.parametrize(("version", "finding"), [("1.36", UNKNOWN), ("1.37", DROPPED)])
def test_scenarios_have_the_fields_of_their_version(version: str, finding: str) -> None:
    Path("scenario.yaml").write_text(SCENARIO % version)
    assert finding in outcome("scenario", "run", "scenario.yaml")
