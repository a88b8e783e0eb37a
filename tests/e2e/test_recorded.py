"""Decisions of a recorded kube-scheduler are repeated with the same results."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from quaymaster.config import default_config
from quaymaster.recording import Agreement, ReplayResult, record, replay
from quaymaster.scheduler import PluginRegistry
from tests.e2e.binaries import SERVED
from tests.e2e.client import Tree
from tests.e2e.control_plane import ControlPlane
from tests.e2e.follower import Follower
from tests.e2e.mixed_pods import arrivals
from tests.e2e.one_by_one import JudgedByQuaymaster
from tests.e2e.processes import eventually
from tests.e2e.scene import FLAGS, Scene
from tests.e2e.scheduler_log import VERBOSE, SchedulerLog
from tests.e2e.verdicts import Adviser

NODES = 20
SEED = 17
BURST = 300
BURSTS = 3
"""How many bursts are recorded until one is explained whole.

A record shows bindings, not decisions. If a busy machine holds back a hundred bindings
for a second, they are seen in any order, and no order of decisions may be found. A
wrong rule of ours differs in each burst.
"""
MOST_LATE = BURST // 4
"""How many bindings of a burst may be seen late."""
IMPORTANT = "important"


@contextmanager
def recording(plane: ControlPlane, file: Path) -> Iterator[None]:
    """Record a cluster from its beginning until the end of the block."""
    stop, has_begun = threading.Event(), threading.Event()

    def follow(objects: int, _lines: int) -> None:
        if objects >= NODES:
            has_begun.set()

    def work() -> None:
        kubeconfig = str(plane.kubeconfig())
        record(file, kubeconfig=kubeconfig, stop=stop, on_progress=follow)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        eventually(has_begun.is_set, what="the beginning of the record")
        yield
    finally:
        stop.set()
        thread.join()


def test_decisions_of_kube_scheduler_are_made_again(
    servers: None, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    count: int = pytestconfig.getoption("--decisions", 80)
    file = tmp_path / "record.jsonl.gz"
    with (
        ControlPlane(tmp_path / "plane", apiserver_flags=FLAGS) as plane,
        Scene(plane, nodes=NODES, seed=SEED) as scene,
        recording(plane, file),
        plane.scheduler(None, VERBOSE) as theirs,
        Adviser(plane.kubeconfig()) as adviser,
    ):
        trial = JudgedByQuaymaster(scene, SchedulerLog(theirs.log), adviser, tmp_path)
        coming = arrivals(count, nodes=NODES, seed=SEED, broken_volumes=False)
        assert trial.run(coming) == []
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=SERVED)
    result = replay(file, config=config, registry=registry)
    counts = {agreement.value: number for agreement, number in result.counts().items()}
    size = file.stat().st_size
    sys.stderr.write(f"{counts}, {size} bytes for {result.pods} pods\n")
    assert len(result.decisions) >= count
    differing = (Agreement.DIFFERS, Agreement.REASONS)
    assert [
        decision for decision in result.decisions if decision.agreement in differing
    ] == []


def test_burst_of_several_priorities_is_decided_again(
    servers: None, tmp_path: Path
) -> None:
    result = replayed_burst(tmp_path / "burst-0")
    for number in range(1, BURSTS):
        if result.differing() or result.counts()[Agreement.ORDER] > MOST_LATE:
            result = replayed_burst(tmp_path / f"burst-{number}")
    assert result.differing() == []
    assert result.counts()[Agreement.ORDER] <= MOST_LATE


def replayed_burst(folder: Path) -> ReplayResult:
    """Record how kube-scheduler decides a burst of pods, and replay the record."""
    folder.mkdir()
    file = folder / "record.jsonl.gz"
    with ControlPlane(folder / "plane", apiserver_flags=FLAGS) as plane:
        client = plane.client()
        client.create_all([*nodes_of_a_burst(), important()], threads=1)
        with (
            recording(plane, file),
            plane.scheduler(),
            Follower(client, "/api/v1/pods") as pods,
        ):
            client.create_all(pods_of_a_burst(), threads=8)
            eventually(
                lambda: (
                    all("nodeName" in pod["spec"] for pod in pods.all())
                    and len(pods.all()) == BURST
                ),
                what="the bindings of all pods",
            )
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=SERVED)
    result = replay(file, config=config, registry=registry)
    counts = {agreement.value: number for agreement, number in result.counts().items()}
    sys.stderr.write(f"{counts}, {result.tried()} tried, {dict(result.widths())}\n")
    assert len(result.decisions) == BURST
    return result


def important() -> Tree:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": IMPORTANT},
        "value": 1000,
    }


def nodes_of_a_burst() -> list[Tree]:
    random, nodes = Random(SEED), []
    for number in range(NODES):
        room = {
            "cpu": random.choice(["16", "24", "32"]),
            "memory": random.choice(["32Gi", "64Gi"]),
            "pods": "110",
        }
        nodes.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": f"node-{number:03}"},
                "status": {"capacity": room, "allocatable": room},
            }
        )
    return nodes


def pods_of_a_burst() -> list[Tree]:
    """Return pods of all sizes, some of them important; there is room for all."""
    random, pods = Random(SEED), []
    for number in range(BURST):
        requests = {
            "cpu": f"{random.randint(1, 15)}00m",
            "memory": f"{random.randint(1, 20)}00Mi",
        }
        container = {"name": "main", "image": "x", "resources": {"requests": requests}}
        spec: Tree = {"containers": [container]}
        if random.random() < 0.25:
            spec["priorityClassName"] = IMPORTANT
        metadata = {"name": f"pod-{number:03}", "namespace": "default"}
        pods.append(
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        )
    return pods
