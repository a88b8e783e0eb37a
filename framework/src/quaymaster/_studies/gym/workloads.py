"""A workload that is small enough for learning."""

from random import Random
from typing import Final

from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod
from quaymaster._studies.experiments.inputs import Arrival, Workload

__all__ = ["small_workload"]

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
    nodes = [
        make_node(name=f"node-{place}", capacity={"cpu": cores, "memory": f"{gib}Gi"})
        for place, (cores, gib) in enumerate(_NODES)
    ]
    pods = [
        make_pod(name=f"pod-{place}", requests={"cpu": cores, "memory": f"{gib}Gi"})
        for place, (cores, gib, _) in enumerate(shapes)
    ]
    return Workload(
        objects=nodes, arrivals=[Arrival(obj=pod) for pod in pods], turn_away=True
    )
