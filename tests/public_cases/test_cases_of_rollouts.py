"""Questions about rollouts, answered by ``what-if``."""

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.answers import answer
from tests.kit.internals.cli import app

CASES = Path(__file__).parent
PORTS = "node(s) didn't have free ports for the requested pod ports"


def test_three_new_pods_beside_three_old_ones_go_to_one_zone() -> None:
    path = CASES / "04-rollout-two-zones-skew2" / "as-the-scheduler-sees-it.yaml"
    placements = answer("simulate", str(path))["placements"]
    assert [pod["node"] for pod in placements] == ["b1", "b1", "b1"]


def test_a_new_pod_with_the_host_port_of_the_old_one_is_pending() -> None:
    folder = CASES / "08-hostnetwork-port-unset"
    files = (str(folder / "before.yaml"), "--apply", str(folder / "after.yaml"))
    [step] = answer("what-if", *files)["steps"]
    [pod] = step["pending"]
    assert PORTS in pod["reasons"]
    assert step["after"]["placed"] == 1
    [rollout] = step["stuckRollouts"]
    assert (rollout["workload"], rollout["pending"]) == ("deployment/exporter", 1)
    assert rollout["message"] == f"1 new pod pending: {pod['message']}"


@pytest.mark.parametrize("strict", [True, False])
def test_a_stuck_rollout_has_its_own_line_and_fails_strict(strict: bool) -> None:
    folder = CASES / "08-hostnetwork-port-unset"
    files = (str(folder / "before.yaml"), "--apply", str(folder / "after.yaml"))
    result = CliRunner().invoke(app, ["what-if", *files, *["--strict"] * strict])
    assert result.exit_code == (1 if strict else 0)
    [line] = [line for line in result.stdout.splitlines() if "Rollout" in line]
    start = "Rollout of deployment/exporter stuck: 1 new pod pending: 0/1 nodes"
    assert line.startswith(start)


def test_an_update_without_a_spare_node_keeps_two_old_pods() -> None:
    path = str(CASES / "09-hostnetwork-node-down" / "input.yaml")
    failure = ("--fail", "m3", "--fail-mode", "Unreachable")
    image = ("--set-image", "deploy/nginx=nginx:latest")
    result = answer("what-if", path, *failure, *image)
    after = result["after"]
    assert after["placed"] == 2
    assert [PORTS in pod["reasons"] for pod in after["pending"]] == [True, True]
    assert [step["stuckRollouts"] == [] for step in result["steps"]] == [True, False]
    [rollout] = result["stuckRollouts"]
    assert (rollout["workload"], rollout["pending"]) == ("deployment/nginx", 1)
    assert rollout["message"].startswith("1 new pod pending: 0/3 nodes are available")


def test_a_new_pod_beside_its_attached_volume_hangs_with_a_warning() -> None:
    path = str(CASES / "23-rwo-rolling-update" / "rwo.yaml")
    image = ("--set-image", "deploy/wiki=wiki:2")
    result = answer("what-if", path, *image)
    [step] = result["steps"]
    [placed] = step["placed"]
    assert (placed["node"], step["pending"]) == ("w1", [])
    [warning] = [w for w in result["warnings"] if w["reason"] == "AttachedVolumes"]
    assert "still attached to w2" in warning["message"]
    [rollout] = result["stuckRollouts"]
    assert rollout["pending"] == 0
    claim = "the volume of claim default/uploads is still attached to w2"
    assert rollout["message"].startswith(f"1 new pod not ready: {claim}")


def test_a_volume_for_one_pod_keeps_the_new_pod_pending() -> None:
    path = str(CASES / "23-rwo-rolling-update" / "rwop.yaml")
    image = ("--set-image", "deploy/wiki=wiki:2")
    [step] = answer("what-if", path, *image)["steps"]
    [pod] = step["pending"]
    [rollout] = step["stuckRollouts"]
    assert (rollout["workload"], rollout["pending"]) == ("deployment/wiki", 1)
    assert "ReadWriteOncePod access mode already in-use" in pod["message"]


def test_a_pod_with_a_node_name_waits_for_its_late_claim_with_a_warning() -> None:
    path = CASES / "28-node-name-and-late-binding" / "input.yaml"
    result = answer("simulate", str(path))
    [warning] = [w for w in result["warnings"] if w["reason"] == "UnboundClaims"]
    assert warning["where"] == "PersistentVolumeClaim default/storage-mail-0"
    assert "default/mail-0 on host" in warning["message"]


@pytest.mark.parametrize("name", ["input", "with-node-allocatable"])
def test_one_of_three_pods_gets_the_device_of_a_class(name: str) -> None:
    path = CASES / "35-extended-resource-by-class" / f"{name}.yaml"
    result = answer("simulate", str(path))
    assert [pod["pod"] for pod in result["placements"]] == ["default/one"]


def test_seven_pods_meet_two_hard_constraints() -> None:
    path = CASES / "31-two-hard-constraints" / "input.yaml"
    nodes = [pod["node"] for pod in answer("simulate", str(path))["placements"]]
    assert sorted(Counter(node[0] for node in nodes).values()) == [2, 2, 3]
    assert sorted(Counter(nodes).values()) == [1, 1, 1, 1, 1, 2]
