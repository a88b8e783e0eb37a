"""``compare --autoscaler``: the same input with several autoscalers."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app
from tests.kit.results import checked_result

PODS = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: a, image: b, resources: {requests: {cpu: 3}}}]}
"""
AUTOSCALER = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: ClusterAutoscaler
flags: [--scale-down-enabled=false, --scale-down-delay-after-add=0s,
        --scale-down-unneeded-time=20s, --scale-down-unready-time=20s,
        --unremovable-node-recheck-timeout=20s]
groups: [{name: pool, max: 3, price: PRICE, resources: {cpu: 4, memory: 8Gi}}]
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pods.yaml").write_text(PODS, encoding="utf-8")
    for name, price in (("cheap", "0.1"), ("dear", "0.3")):
        text = AUTOSCALER.replace("PRICE", price)
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", "pods.yaml", *arguments])


def autoscalers(*names: str) -> list[str]:
    return [f"--autoscaler={name}.yaml" for name in names]


@pytest.mark.long
def test_each_file_makes_a_variant() -> None:
    result = run(*autoscalers("cheap", "dear"), "-o", "json")
    document = json.loads(result.stdout)
    checked_result("compare", document)
    costs = {
        variant["name"]: variant["figures"]["cost"]["mean"]
        for variant in document["variants"]
    }
    assert costs["dear.yaml"] == pytest.approx(3 * costs["cheap.yaml"])


@pytest.mark.long
def test_one_file_is_for_all_configurations() -> None:
    output = run("default", "bin-packing", *autoscalers("cheap")).stdout
    rows = (line.split() for line in output.splitlines() if line)
    figures = {name: values for name, *values in rows}
    assert figures["FIGURE"] == ["default", "bin-packing", "DIFFERENCE"]
    assert figures["nodes_added"] == ["1", "1", "0"]


@pytest.mark.long
def test_several_configurations_run_with_each_file() -> None:
    result = run("default", "bin-packing", *autoscalers("cheap", "dear"), "-o", "json")
    names = [variant["name"] for variant in json.loads(result.stdout)["variants"]]
    assert names == [
        "default cheap.yaml",
        "default dear.yaml",
        "bin-packing cheap.yaml",
        "bin-packing dear.yaml",
    ]


def test_one_autoscaler_alone_is_no_comparison() -> None:
    result = run(*autoscalers("cheap"))
    assert result.exit_code == 2
    assert "expected two variants" in result.stderr


def test_virtual_environment_cannot_have_one(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    (tmp_path / ".venv" / "bin" / "python").touch()
    result = run(".venv", *autoscalers("cheap", "dear"))
    assert "no autoscaler runs in a virtual environment: .venv" in result.stderr
