"""Decisions of a recorded burst are repeated with the same results."""

from pathlib import Path
from random import Random

from quaymaster.recording import Agreement, ReplayResult
from tests.e2e.client import Tree
from tests.e2e.control_plane import ControlPlane
from tests.e2e.follower import Follower
from tests.e2e.processes import eventually
from tests.e2e.recorder import recording, replayed
from tests.e2e.scene import FLAGS

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
            recording(plane, file, objects=NODES),
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
    result = replayed(file)
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
