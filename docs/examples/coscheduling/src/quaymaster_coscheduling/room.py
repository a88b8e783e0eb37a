"""What the cluster has left, beside what a group itself has taken.

Mirrors ``CheckClusterResource`` (scheduler-plugins v0.34.7,
``pkg/coscheduling/core/core.go``).
"""

from collections.abc import Iterable, Mapping

import numpy as np
from quaymaster import Int64Array, NodeTable, Pod
from quaymaster.columns import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster.objects import Quantity, pod_requests

__all__ = ["resource_gap"]

_ROWS = {"cpu": CPU, "memory": MEMORY, "ephemeral-storage": EPHEMERAL_STORAGE}


def resource_gap(
    nodes: NodeTable,
    wanted: Mapping[str, Quantity],
    min_member: int,
    own: Iterable[Pod],
) -> Mapping[str, int]:
    """Return what the cluster lacks to have an amount of each resource left.

    Args:
        nodes: All nodes.
        wanted: Resource -> how much there should be.
        min_member: How many more pods nodes should allow.
        own: Pods on nodes that do not count.

    Returns:
        Resource -> how much is missing, CPU in millicores; without what is there.
    """
    own = list(own)
    gaps = {}
    for name, quantity in wanted.items():
        if name != "pods":
            amount = quantity.milli_value if name == "cpu" else quantity.value
            gaps[name] = _missing(amount, _left(nodes, name, own), nodes)
    pods = nodes.allowed_pods - nodes.pod_count
    for pod in own:
        _give_back(pods, nodes, pod, 1)
    gaps["pods"] = _missing(min_member, pods, nodes)
    return {name: gap for name, gap in gaps.items() if gap > 0}


def _left(nodes: NodeTable, name: str, own: Iterable[Pod]) -> Int64Array:
    """Return how much each row has left of a resource; a new array."""
    row = _ROWS.get(name, nodes.resource(name))
    if row is None:
        return np.zeros(nodes.capacity, dtype=np.int64)
    left: Int64Array = nodes.allocatable[row] - nodes.requested[row]
    for pod in own:
        _give_back(left, nodes, pod, pod_requests(pod).get(name))
    return left


def _give_back(left: Int64Array, nodes: NodeTable, pod: Pod, amount: int) -> None:
    row = nodes.row_of(pod.node_name)
    if row is not None:
        left[row] += amount


def _missing(amount: int, left: Int64Array, nodes: NodeTable) -> int:
    """Return what is missing when the nodes are added up until there is enough.

    A node with more taken than it has counts against the others that came before, but
    not once there was enough.
    """
    sums = np.cumsum(left[nodes.rows])
    if sums.max(initial=0) >= amount:
        return 0
    return amount - int(sums[-1]) if len(sums) else amount
