"""Quaymaster decides as kube-scheduler does, on one real API server."""

import sys
from pathlib import Path

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.mixed_pods import arrivals
from tests.e2e.one_by_one import Trial
from tests.e2e.scene import FLAGS, Scene
from tests.e2e.scheduler_log import TALKATIVE, SchedulerLog
from tests.e2e.verdicts import Adviser

NODES = 40


def test_quaymaster_would_decide_each_pod_as_kube_scheduler_does(
    servers: None, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    count, seed = pytestconfig.getoption("--decisions", 200), 13
    found: list[str] = []
    with (
        ControlPlane(tmp_path / "plane", apiserver_flags=FLAGS) as plane,
        Scene(plane, nodes=NODES, seed=seed) as scene,
        plane.scheduler(None, TALKATIVE) as scheduler,
        Adviser(plane.kubeconfig()) as adviser,
    ):
        trial = Trial(scene, SchedulerLog(scheduler.log), adviser, tmp_path)
        # In simulations, every provisioner works.
        for arrival in arrivals(count, nodes=NODES, seed=seed, broken_volumes=False):
            scene.volumes.prepare(arrival.needs)
            found += trial.arrive(arrival)
            scene.thin_out()
    sys.stderr.write(f"{dict(trial.counts)}\n")
    assert not found, "\n".join(found)
