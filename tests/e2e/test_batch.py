"""Quaymaster leaves no pod of a batch waiting that kube-scheduler places."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from quaymaster import ApiObject
from tests.e2e.client import Tree
from tests.e2e.control_plane import ControlPlane
from tests.e2e.follower import key_of
from tests.e2e.mixed_pods import arrivals
from tests.e2e.processes import Program, eventually
from tests.e2e.scene import FLAGS, Scene

NODES = 60
PODS = 250
SEED = 29
QUIET = 12.0
"""Seconds without a change: longer than a pod stays in backoff."""

Choose: TypeAlias = Callable[[ControlPlane], Program]


def batch() -> Iterator[tuple[Tree, tuple[ApiObject, ...]]]:
    for arrival in arrivals(PODS, nodes=NODES, seed=SEED):
        arrival.pod["spec"].pop("schedulingGates", None)
        yield arrival.pod, arrival.needs


def waiting_after(folder: Path, choose: Choose) -> dict[str, str]:
    """The pods that have no node when nothing moves any more, and why."""
    with (
        ControlPlane(folder, apiserver_flags=FLAGS) as plane,
        Scene(plane, nodes=NODES, seed=SEED) as scene,
        plane.kubelets(),
        choose(plane),
    ):
        pods, needs = zip(*batch(), strict=True)
        scene.volumes.prepare([one for some in needs for one in some])
        scene.client.create_all(pods)
        eventually(
            lambda: time.monotonic() - scene.pods.changed > QUIET,
            within=240,
            what="the end of all changes",
        )
        found = {key_of(pod): pod for pod in scene.pods.all()}
    report(folder.name, found)
    return {
        key: str(pod["status"].get("conditions", ""))
        for key, pod in found.items()
        if "nodeName" not in pod["spec"]
    }


def report(name: str, pods: dict[str, Tree]) -> None:
    placed = sum("nodeName" in pod["spec"] for pod in pods.values())
    ballast = sum("ballast" in key for key in pods)
    sys.stderr.write(
        f"{name}: {len(pods)} pods, {placed} placed, {ballast} of the ballast\n"
    )


def test_no_pod_of_a_batch_waits_that_kube_scheduler_places(
    servers: None, tmp_path: Path
) -> None:
    theirs, ours = (
        waiting_after(tmp_path / "theirs", ControlPlane.scheduler),
        waiting_after(tmp_path / "ours", ControlPlane.quaymaster),
    )
    assert {key: ours[key] for key in ours.keys() - theirs.keys()} == {}
