"""Workloads that are small enough for learning."""

from functools import cache
from random import Random
from typing import Final

from quaymaster._api.objects import Node, Pod
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod
from quaymaster._studies.experiments.inputs import Arrival, Workload

__all__ = ["queue_workload", "small_workload"]

_NODES: Final = ((16, 32), (16, 32), (16, 64), (16, 64), (8, 64), (8, 64))
"""Cores and GiB of each node."""

_PODS: Final = (
    (1, 2, 30),
    (2, 4, 20),
    (1, 8, 20),
    (2, 16, 10),
    (4, 4, 10),
    (8, 16, 10),
)
"""Cores, GiB, and the number of such pods among a hundred."""

_ARRIVALS: Final = 40

_CORES: Final = (1, 1, 1, 2, 2, 4, 4, 8, 16)
_JOBS: Final = 60
_SECONDS_BETWEEN: Final = 15.0


def small_workload(seed: int) -> Workload:
    """Return a small workload: 40 pods arrive at 6 nodes, and stay.

    Nodes have three shapes and pods have six. The pods request slightly more than the
    nodes offer, so it matters which pods share a node. Pods that find no room are
    deleted.

    Args:
        seed: Decides the order and the shapes of the pods.
    """
    draw = Random(seed)
    shapes = draw.choices(_PODS, [often for _, _, often in _PODS], k=_ARRIVALS)
    return Workload(
        objects=_nodes(),
        arrivals=[
            _arrival(place, cores, gib) for place, (cores, gib, _) in enumerate(shapes)
        ],
        turn_away=True,
    )


def queue_workload(seed: int) -> Workload:
    """Return a workload whose order matters: 60 pods arrive at 4 nodes, and end.

    Pods request 1 to 16 of a node's 16 cores, and run for 10 seconds to about an hour.
    They arrive faster than the nodes can run them, so a queue builds up.

    Args:
        seed: Decides the pods, when they arrive, and how long they run.
    """
    draw, at = Random(seed), 0.0
    arrivals = []
    for place in range(_JOBS):
        at += draw.expovariate(1 / _SECONDS_BETWEEN)
        cores = draw.choice(_CORES)
        stays = round(min(max(10.0, draw.lognormvariate(5.0, 1.5)), 3600.0), 3)
        arrivals.append(Arrival(obj=_job(place, cores), at=round(at, 3), stays=stays))
    return Workload(objects=_equal_nodes(), arrivals=arrivals)


# Objects are immutable, so all episodes share them: making the 46 objects takes longer
# than all else that begins an episode.


@cache
def _nodes() -> tuple[Node, ...]:
    return tuple(
        make_node(name=f"node-{place}", capacity={"cpu": cores, "memory": f"{gib}Gi"})
        for place, (cores, gib) in enumerate(_NODES)
    )


@cache
def _arrival(place: int, cores: int, gib: int) -> Arrival:
    name = f"pod-{place}"
    pod = make_pod(name=name, requests={"cpu": cores, "memory": f"{gib}Gi"})
    return Arrival(obj=pod)


@cache
def _equal_nodes() -> tuple[Node, ...]:
    offered = {"cpu": "16", "memory": "64Gi"}
    return tuple(
        make_node(name=f"node-{place}", capacity=offered) for place in range(4)
    )


@cache
def _job(place: int, cores: int) -> Pod:
    name = f"job-{place}"
    return make_pod(name=name, requests={"cpu": cores, "memory": f"{2 * cores}Gi"})
