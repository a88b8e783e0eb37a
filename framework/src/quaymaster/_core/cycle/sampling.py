"""Sampling: filters fewer than all nodes, with upstream's number and order.

Mirrors ``numFeasibleNodesToFind`` (Kubernetes v1.36, ``pkg/scheduler/schedule_one.go``)
and ``nodeTree.list`` (``pkg/scheduler/backend/cache/node_tree.go``).
"""

from collections.abc import Mapping

import numpy as np

from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.filtering import Filters
from quaymaster._core.state.arrays import RowArray, Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["NodeOrder", "nodes_to_find", "sample"]

_MIN_FEASIBLE_NODES = 100  # upstream's ``minFeasibleNodesToFind``
_REGION_LABELS = (
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
)
_ZONE_LABELS = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
)


def nodes_to_find(percentage: int, nodes: int) -> int:
    """Return the number of feasible nodes to find: at least 100, if there are enough.

    Args:
        percentage: ``percentageOfNodesToScore``, 1 to 100.
        nodes: The number of nodes to sample from.
    """
    if nodes < _MIN_FEASIBLE_NODES:
        return nodes
    return max(_MIN_FEASIBLE_NODES, nodes * percentage // 100)


class NodeOrder:
    """The order of sampling: zones alternate, starting where the last attempt ended."""

    def __init__(self) -> None:
        self._revision = -1
        self._order: RowArray = np.empty(0, dtype=np.intp)
        self._start = 0

    def rotated(self, nodes: NodeTable, placement: RowArray | None = None) -> RowArray:
        """Return all rows, starting where the last attempt ended.

        Args:
            nodes: All nodes.
            placement: The rows to which the attempt is restricted, or None.
        """
        revision = nodes.node_changes.revision
        if self._revision != revision:
            self._order = _interleaved(nodes)
            self._revision = revision
        order = self._order
        if placement is not None:
            order = order[np.isin(order, placement)]
        # Upstream reads its list from an index on, modulo its length: the same order.
        return np.roll(order, -self._start)

    def advance(self, processed: int, nodes: int) -> None:
        """Let the next attempt start after the nodes that this one tried."""
        self._start = (self._start + processed) % nodes if nodes else 0


def sample(
    filters: Filters, attempt: Attempt, order: RowArray, rows: Rows, target: int
) -> RowArray | Status:
    """Filter nodes in sampling order until enough are found.

    Args:
        filters: The filters.
        attempt: The attempt.
        order: All rows in sampling order.
        rows: The rows to sample from.
        target: The number of rows to find.

    Returns:
        The feasible rows, ascending, or the Error that ends the attempt.
    """
    if not isinstance(rows, slice):
        # PreFilter has restricted the nodes; they keep their order of sampling.
        order = order[np.isin(order, rows)]
    feasible: list[int] = []
    tried = 0
    while tried < len(order) and len(feasible) < target:
        # Parts of this size let batch twins filter many nodes in one call. A few nodes
        # more than needed may be filtered, as by upstream's parallel workers.
        part = order[tried : tried + target]
        passed = filters.passing(attempt, np.sort(part))
        if isinstance(passed, Status):
            return passed
        fits = np.isin(part, attempt.nodes.row_numbers(passed))
        enough = np.flatnonzero(fits)[: target - len(feasible)]
        feasible.extend(part[enough].tolist())
        tried += len(part)
    return np.array(sorted(feasible), dtype=np.intp)


def _interleaved(nodes: NodeTable) -> RowArray:
    zones: dict[str, list[int]] = {}
    for info in nodes:
        zones.setdefault(_zone_key(info.labels), []).append(info.row)
    longest = max(map(len, zones.values()), default=0)
    order = [
        rows[index]
        for index in range(longest)
        for rows in zones.values()
        if index < len(rows)
    ]
    return np.array(order, dtype=np.intp)


def _zone_key(labels: Mapping[str, str]) -> str:
    region, zone = (
        next((labels[key] for key in keys if key in labels), "")
        for keys in (_REGION_LABELS, _ZONE_LABELS)
    )
    # The separator of ``GetZoneKey`` (component-helpers, ``node/topology``).
    return f"{region}:\x00:{zone}" if region or zone else ""
