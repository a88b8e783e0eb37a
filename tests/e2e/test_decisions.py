"""Quaymaster decides as kube-scheduler does, on one real API server."""

import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest

from quaymaster.recording import Agreement
from tests.e2e.control_plane import ControlPlane
from tests.e2e.mixed_pods import arrivals
from tests.e2e.one_by_one import JudgedByQuaymaster
from tests.e2e.other_way import JUDGE, OURS, JudgedByKubeScheduler, let_judge
from tests.e2e.recorder import recording, replayed
from tests.e2e.scene import FLAGS, Scene
from tests.e2e.scheduler_log import VERBOSE, SchedulerLog
from tests.e2e.verdicts import Adviser

NODES = 40
SEED = 13


@pytest.fixture(scope="module")
def count(pytestconfig: pytest.Config) -> int:
    number: int = pytestconfig.getoption("--decisions", 80)
    return number


@attrs.frozen
class Judged:
    """A course of kube-scheduler that Quaymaster has judged step by step.

    Attributes:
        found: The differences.
        record: The record of the whole course.
    """

    found: Sequence[str]
    record: Path


@pytest.fixture(scope="module")
def judged(
    servers: None, tmp_path_factory: pytest.TempPathFactory, count: int
) -> Judged:
    folder = tmp_path_factory.mktemp("judged")
    file = folder / "record.jsonl.gz"
    with (
        ControlPlane(folder / "plane", apiserver_flags=FLAGS) as plane,
        Scene(plane, nodes=NODES, seed=SEED) as scene,
        recording(plane, file, objects=NODES),
        plane.scheduler(None, VERBOSE) as theirs,
        Adviser(plane.kubeconfig()) as adviser,
    ):
        trial = JudgedByQuaymaster(scene, SchedulerLog(theirs.log), adviser, folder)
        # In simulations, every provisioner works.
        coming = arrivals(count, nodes=NODES, seed=SEED, broken_volumes=False)
        found = trial.run(coming)
    sys.stderr.write(f"{dict(trial.counts)}\n")
    return Judged(found, file)


def test_quaymaster_would_decide_each_pod_as_kube_scheduler_does(
    judged: Judged,
) -> None:
    assert not judged.found, "\n".join(judged.found)


def test_decisions_of_kube_scheduler_are_made_again(judged: Judged, count: int) -> None:
    result = replayed(judged.record)
    assert len(result.decisions) >= count
    differing = (Agreement.DIFFERS, Agreement.REASONS)
    assert [
        decision for decision in result.decisions if decision.agreement in differing
    ] == []


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
