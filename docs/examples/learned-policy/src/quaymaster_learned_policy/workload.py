"""The workload on which the policy is learned, and judged."""

from random import Random
from typing import Final

from quaymaster.experiments import Arrival, Workload
from quaymaster.objects import pod_requests
from quaymaster.simulation import Run, Step
from quaymaster.testing import make_node, make_pod

__all__ = ["filled", "mixed_arrivals"]

_NODES: Final = 8
_CORES, _GIB = 16, 64

_PODS: Final = (
    (1, 2, 25),
    (1, 8, 25),
    (2, 4, 15),
    (2, 16, 15),
    (12, 24, 10),
    (4, 48, 10),
)
"""Cores, GiB, and how many of a hundred pods are such."""

_ARRIVALS: Final = 42
"""So many ask for about as much as there is."""


def mixed_arrivals(seed: int) -> Workload:
    """Return 8 equal nodes, and 42 pods of six shapes that arrive in random order.

    Some want more CPU for their memory than a node has, some less; one in five wants
    most of a node. What finds no room leaves for good.

    Args:
        seed: Decides the shapes and their order.
    """
    draw = Random(seed)
    shapes = draw.choices(_PODS, [often for _, _, often in _PODS], k=_ARRIVALS)
    nodes = [
        make_node(name=f"node-{n}", capacity={"cpu": _CORES, "memory": f"{_GIB}Gi"})
        for n in range(_NODES)
    ]
    pods = [
        make_pod(name=f"pod-{n}", requests={"cpu": cores, "memory": f"{gib}Gi"})
        for n, (cores, gib, _) in enumerate(shapes)
    ]
    return Workload(
        objects=nodes, arrivals=[Arrival(obj=pod) for pod in pods], turn_away=True
    )


def filled(_run: Run, step: Step) -> float:
    """Return how much of the cluster a placed pod fills: the mean of CPU and memory."""
    if not step.node:
        return 0.0
    requests = pod_requests(step.pod)
    cpu = requests.milli_cpu / (1000 * _CORES * _NODES)
    memory = requests.memory / (2**30 * _GIB * _NODES)
    return (cpu + memory) / 2
