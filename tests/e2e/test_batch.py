"""Quaymaster leaves no pod of a batch waiting that kube-scheduler would place."""

import sys
import time
from pathlib import Path

from tests.e2e.control_plane import ControlPlane
from tests.e2e.follower import key_of
from tests.e2e.mixed_pods import arrivals
from tests.e2e.other_way import let_judge
from tests.e2e.processes import eventually
from tests.e2e.scene import FLAGS, Scene
from tests.e2e.scheduler_log import VERBOSE, Opinion, SchedulerLog

NODES = 60
PODS = 250
SEED = 29
QUIET = 12.0
"""Seconds without a change, longer than the longest backoff of a pod."""


def schedule_batch(scene: Scene) -> list[str]:
    """Create all pods at once.

    Returns:
        The pods without a node, when nothing changes for a while.
    """
    batch = list(arrivals(PODS, nodes=NODES, seed=SEED))
    for arrival in batch:
        arrival.pod["spec"].pop("schedulingGates", None)
    scene.volumes.prepare([need for arrival in batch for need in arrival.needs])
    scene.client.create_all(arrival.pod for arrival in batch)
    eventually(
        lambda: time.monotonic() - scene.pods.changed > QUIET,
        within=240,
        what="the end of all changes",
    )
    return [key_of(pod) for pod in scene.pods.all() if "nodeName" not in pod["spec"]]


def opinions(plane: ControlPlane, pods: list[str]) -> dict[str, Opinion]:
    """Return kube-scheduler's results for pods, without write access."""
    with plane.scheduler(None, VERBOSE, user="judge") as judge:
        log = SchedulerLog(judge.log)
        eventually(
            lambda: all(log.of(pod) and log.of(pod)[0].is_complete for pod in pods),
            what="an opinion on each pod that waits",
        )
        return {pod: log.of(pod)[0] for pod in pods}


def test_no_pod_of_a_batch_waits_that_kube_scheduler_would_place(
    servers: None, tmp_path: Path
) -> None:
    with (
        ControlPlane(tmp_path, users={"judge": []}, apiserver_flags=FLAGS) as plane,
        Scene(plane, nodes=NODES, seed=SEED) as scene,
        plane.kubelets(),
    ):
        let_judge(scene.client, "judge")
        with plane.quaymaster():
            waiting = schedule_batch(scene)
        found = opinions(plane, waiting)
        sys.stderr.write(f"{len(waiting)} wait of {len(scene.pods.all())}\n")
    assert waiting, "some of these pods fit nowhere"
    would = {
        pod: opinion for pod, opinion in found.items() if opinion.best or opinion.target
    }
    assert would == {}
