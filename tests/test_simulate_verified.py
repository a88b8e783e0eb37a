"""``quaymaster simulate --verify``, as a user types it."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster import CycleState, NodeInfo, Pod, Status, hookimpl
from quaymaster_node_unschedulable import NodeUnschedulable
from tests.kit.internals.cli import app

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: main, image: nginx}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod.yaml").write_text(POD)
    return "pod.yaml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(
        app, ["simulate", *arguments, "--nodes", "30:cpu=4,memory=8Gi"]
    )


def test_verified_decisions_are_the_same(file: str) -> None:
    plain, verified = run(file), run(file, "--verify", "1")
    assert verified.exit_code == 0
    assert verified.stdout == plain.stdout


def test_a_decision_that_cannot_be_verified_is_one_line_and_exit_code_1(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @hookimpl
    def refuse(
        self: NodeUnschedulable, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status | None:
        name = node.name
        return Status.unschedulable("no") if name == "node-007" else None

    monkeypatch.setattr(NodeUnschedulable, "filter", refuse)
    assert run(file).exit_code == 0
    result = run(file, "--verify", "1")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == (
        "pod 'default/web': the decision is not the one of the scalar hooks: "
        "node-007: feasible, expected UNSCHEDULABLE 'no' of NodeUnschedulable\n"
    )
