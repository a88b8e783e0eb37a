"""What the policy sees of a node, in the light of the pod that is to be placed.

The agent that learns sees the same as the plugin: `PolicyColumns` is given to the
environment, and asked by ``score_nodes``.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from quaymaster import Int64Array, NodeInfo, NodeTable, Pod, Rows
from quaymaster.columns import Float64Array, ResourceColumn
from quaymaster.objects import pod_requests

__all__ = ["NAMES", "PolicyColumns"]

NAMES: Final = (
    "cpu",
    "memory",
    "cpu squared",
    "memory squared",
    "cpu times memory",
    "gap between cpu and memory",
    "cpu of the pod",
    "memory of the pod",
)
"""``cpu`` and ``memory`` are the shares that would be used with the pod."""


class PolicyColumns:
    """Describes nodes; implements `quaymaster.gym.NodeColumns`.

    Attributes:
        names: What the columns are called.
        bounds: The least and the largest number that there can be.
    """

    names = NAMES
    bounds = (0.0, 1.0)

    def __init__(self) -> None:
        self._resources = (ResourceColumn("cpu"), ResourceColumn("memory"))

    def of(self, pod: Pod, node: NodeInfo) -> Sequence[float]:
        """Describe one node: a number for each name."""
        shares = []
        for resource in self._resources:
            request = resource.request(pod_requests(pod))
            offered, used = resource.read(node)
            divisor = float(max(offered, 1))
            with_pod = min((used + request) / divisor, 1.0)
            shares.append((with_pod, min(request / divisor, 1.0)))
        (cpu, cpu_of_pod), (memory, memory_of_pod) = shares
        return [
            cpu,
            memory,
            cpu * cpu,
            memory * memory,
            cpu * memory,
            abs(cpu - memory),
            cpu_of_pod,
            memory_of_pod,
        ]

    def each(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Iterator[Float64Array]:
        """Describe many nodes: an array of shape ``(N,)`` for each name."""
        shares = []
        for resource in self._resources:
            request = resource.request(pod_requests(pod))
            capacity = resource.capacity(nodes)
            count = nodes.count(rows)
            # Pods may use a resource that no node offers: they run there already.
            used: Int64Array = resource.usage(nodes, rows)
            divisors: Float64Array = np.ones(count)
            if capacity is not None:
                divisors = capacity.divisors[rows]
            with_pod = np.minimum((used + request) / divisors, 1.0)
            shares.append((with_pod, np.minimum(request / divisors, 1.0)))
        (cpu, cpu_of_pod), (memory, memory_of_pod) = shares
        yield cpu
        yield memory
        yield cpu * cpu
        yield memory * memory
        yield cpu * memory
        yield np.abs(cpu - memory)
        yield cpu_of_pod
        yield memory_of_pod

    def read(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Float64Array:
        """Describe many nodes, shape ``(N, F)``: a line for each."""
        return np.stack(list(self.each(pod, nodes, rows)), axis=1)
