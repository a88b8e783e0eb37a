"""The columns in which an agent observes the nodes."""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._api.objects.resources import pod_requests
from quaymaster._core.state.allocation import ResourceColumn
from quaymaster._core.state.arrays import Float64Array, RowArray
from quaymaster._core.state.node_table import NodeTable

__all__ = ["NodeColumns", "ShareColumns"]

_PER_RESOURCE: Final = ("used", "used with the pod", "size")


class NodeColumns(Protocol):
    """Describes nodes in numbers, for the upcoming pod.

    Attributes:
        names: The names of the columns.
        bounds: The smallest and the largest possible number.
    """

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def bounds(self) -> tuple[float, float]: ...

    def read(self, pod: Pod, nodes: NodeTable, rows: RowArray) -> Float64Array:
        """Describe some nodes; a plugin may call this with its own arguments.

        Args:
            pod: The pod.
            nodes: All nodes.
            rows: The nodes to describe, feasible or not.

        Returns:
            Shape ``(N, F)``, dtype float64: one line per row, one column per name.
        """


class ShareColumns:
    """Describes nodes by the shares of resources; implements `NodeColumns`.

    For each resource these are: the used share; the used share with the pod, at most 1;
    and what the node offers, as a share of the largest node's offer. If a node does not
    offer the resource, all are 0.

    Args:
        resources: The resources.

    Attributes:
        names: The names of the columns, such as ``cpu used with the pod``.
        bounds: 0 and 1.
    """

    bounds = (0.0, 1.0)

    def __init__(self, resources: Sequence[str] = ("cpu", "memory")) -> None:
        self.names = tuple(
            f"{name} {what}" for name in resources for what in _PER_RESOURCE
        )
        self._resources = [ResourceColumn(name) for name in resources]

    def read(self, pod: Pod, nodes: NodeTable, rows: RowArray) -> Float64Array:
        """See `NodeColumns.read`."""
        values: Float64Array = np.zeros((len(rows), len(self.names)))
        requests = pod_requests(pod)
        for place, resource in enumerate(self._resources):
            capacity = resource.capacity(nodes)
            if capacity is None:
                continue
            first = place * len(_PER_RESOURCE)
            offered, divisors = capacity.amounts[rows], capacity.divisors[rows]
            used = resource.usage(nodes, rows)
            values[:, first] = used / divisors
            values[:, first + 1] = (used + resource.request(requests)) / divisors
            values[:, first + 2] = offered / capacity.amounts[nodes.rows].max()
            values[offered == 0, first : first + 3] = 0.0
        return np.minimum(values, 1.0)
