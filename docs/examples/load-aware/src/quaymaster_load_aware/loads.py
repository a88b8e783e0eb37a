"""What nodes are doing: measured, with what has come since; or as pods request."""

from collections.abc import Mapping

import numpy as np
from quaymaster import NodeInfo, NodeTable, Pod, Rows, Snapshot
from quaymaster.columns import CPU, Float64Array
from quaymaster.objects import pod_usage

__all__ = ["Loads"]


class Loads:
    """The load of nodes with one more pod, in percent of their CPU.

    A node with a measure has that load, and what pods that have come since are expected
    to use. A node without has what all of its pods are expected to use.

    Args:
        multiplier: What pods are expected to use, as a multiple of what they request; a
            container that requests no CPU counts with kube-scheduler's default.
    """

    def __init__(self, multiplier: float) -> None:
        self._multiplier = multiplier
        self._percent: Mapping[str, float] = {}
        # What pods on the node requested when it was measured, in millicores.
        self._then: Mapping[str, int] = {}
        self._columns: tuple[Float64Array, Float64Array] | None = None
        self._made_for: object = None

    @property
    def percent(self) -> Mapping[str, float]:
        """Node name -> its measure."""
        return self._percent

    @property
    def then(self) -> Mapping[str, int]:
        """Node name -> what its pods requested when it was measured, in millicores."""
        return self._then

    def take(self, percent: Mapping[str, float], snapshot: Snapshot) -> None:
        """Take new measures over, in place of all there were.

        Args:
            percent: Node name -> its load, in percent.
            snapshot: The nodes and pods that were measured.
        """
        self._percent = percent
        self._then = {
            node.name: node.non_zero_milli_cpu
            for node in snapshot
            if node.name in percent
        }
        self._made_for = None

    def expected(self, pod: Pod) -> float:
        """Return the CPU that a pod is expected to use, in millicores."""
        return self._multiplier * pod_usage(pod).non_zero_milli_cpu

    def measured(self, node: NodeInfo) -> bool:
        """Whether there is a measure of a node."""
        return node.name in self._percent

    def with_pod(self, expected: float, node: NodeInfo) -> float:
        """Return the load of a node with one more pod, in percent.

        Args:
            expected: What the pod is expected to use, in millicores.
            node: The node.
        """
        requested = node.non_zero_milli_cpu
        measure = self._percent.get(node.name)
        if measure is not None:
            requested = max(requested - self._then.get(node.name, 0), 0)
        offered = node.allocatable.milli_cpu
        more = self._multiplier * requested + expected
        return (measure or 0.0) + (100 * more / offered if offered else 0.0)

    def with_pod_on_rows(
        self, expected: float, nodes: NodeTable, rows: Rows
    ) -> Float64Array:
        """Batch twin of `with_pod`.

        Args:
            expected: What the pod is expected to use, in millicores.
            nodes: The columns of all nodes.
            rows: The rows.
        """
        percent, then = self._on_rows(nodes)
        is_measured = ~np.isnan(percent[rows])
        requested = nodes.non_zero_requested[CPU, rows]
        since = np.maximum(requested - then[rows], 0)
        offered = nodes.allocatable[CPU, rows]
        more = self._multiplier * np.where(is_measured, since, requested) + expected
        share = np.zeros(len(offered))
        np.divide(100 * more, offered, out=share, where=offered != 0)
        found: Float64Array = np.where(is_measured, percent[rows], 0.0) + share
        return found

    def measured_on_rows(self, nodes: NodeTable, rows: Rows) -> Float64Array:
        """Return the measures of some nodes; not a number where there is none."""
        return self._on_rows(nodes)[0][rows]

    def _on_rows(self, nodes: NodeTable) -> tuple[Float64Array, Float64Array]:
        log = nodes.node_changes
        made_for = (log, log.revision, nodes.capacity)
        if self._columns is None or self._made_for != made_for:
            percent = np.full(nodes.capacity, np.nan)
            then = np.zeros(nodes.capacity)
            for name, measure in self._percent.items():
                row = nodes.row_of(name)
                if row is not None:
                    percent[row] = measure
                    then[row] = self._then.get(name, 0)
            self._columns, self._made_for = (percent, then), made_for
        return self._columns
