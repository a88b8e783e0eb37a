"""Quaymaster decides as kube-scheduler does, on one real API server."""

import sys
from pathlib import Path

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.mixed_pods import arrivals
from tests.e2e.one_by_one import JudgedByQuaymaster
from tests.e2e.other_way import JUDGE, OURS, JudgedByKubeScheduler, let_judge
from tests.e2e.scene import FLAGS, Scene
from tests.e2e.scheduler_log import VERBOSE, SchedulerLog
from tests.e2e.verdicts import Adviser

NODES = 40
SEED = 13


@pytest.fixture
def count(pytestconfig: pytest.Config) -> int:
    number: int = pytestconfig.getoption("--decisions", 80)
    return number


def test_quaymaster_would_decide_each_pod_as_kube_scheduler_does(
    servers: None, tmp_path: Path, count: int
) -> None:
    with (
        ControlPlane(tmp_path / "plane", apiserver_flags=FLAGS) as plane,
        Scene(plane, nodes=NODES, seed=SEED) as scene,
        plane.scheduler(None, VERBOSE) as theirs,
        Adviser(plane.kubeconfig()) as adviser,
    ):
        trial = JudgedByQuaymaster(scene, SchedulerLog(theirs.log), adviser, tmp_path)
        # In simulations, every provisioner works.
        coming = arrivals(count, nodes=NODES, seed=SEED, broken_volumes=False)
        found = trial.run(coming)
    sys.stderr.write(f"{dict(trial.counts)}\n")
    assert not found, "\n".join(found)


def test_quaymaster_decides_each_pod_as_kube_scheduler_would(
    servers: None, tmp_path: Path, count: int
) -> None:
    profile = {"profiles": [{"schedulerName": OURS}]}
    with (
        ControlPlane(
            tmp_path / "plane", users={"judge": []}, apiserver_flags=FLAGS
        ) as plane,
        Scene(plane, nodes=NODES, seed=SEED) as scene,
    ):
        let_judge(scene.client, "judge")
        scene.allow_one_disruption()
        with (
            plane.scheduler(JUDGE, VERBOSE, user="judge") as judge,
            plane.quaymaster(profile),
        ):
            trial = JudgedByKubeScheduler(scene, SchedulerLog(judge.log))
            coming = arrivals(count, nodes=NODES, seed=SEED + 1)
            found = trial.run(coming)
    sys.stderr.write(f"{dict(trial.counts)}\n")
    assert not found, "\n".join(found)
