"""The GPU devices that pods have taken."""

from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from quaymaster import Int64Array, NodeInfo, NodeTable, Rows
from quaymaster.columns import CPU, RowReader
from tests.openb.gpus import COUNT, WHOLE, GpuColumns, GpuNode

__all__ = ["Devices", "Taken"]

_MOST: Final = 8
"""The number of devices of the largest node."""


@attrs.frozen
class Taken:
    """The devices of a pod.

    Attributes:
        devices: The numbers of its devices, ascending.
        milli: The part of each device, in thousandths.
        tag: The kind of the pod, as a bit.
        score: The policy's score for its node.
    """

    devices: tuple[int, ...]
    milli: int
    tag: int
    score: int


class Devices:
    """The devices of reserved pods, and the free parts of the nodes' devices.

    Attributes:
        taken: Pod uid -> its devices.
    """

    def __init__(self) -> None:
        self.taken: dict[str, Taken] = {}
        self._reader = RowReader()
        self._left: Int64Array = np.zeros((0, _MOST), dtype=np.int64)
        self._count: Int64Array = np.zeros(0, dtype=np.int64)
        self._tags: Int64Array = np.zeros(0, dtype=np.int64)

    def node(self, info: NodeInfo) -> GpuNode:
        """Return one node, as policies use it."""
        left, tags = self._read(info)
        cpu = info.allocatable.milli_cpu - info.requested.milli_cpu
        return GpuNode(cpu, tuple(left), tags)

    def nodes(self, nodes: NodeTable, rows: Rows) -> GpuColumns:
        """Return many nodes, as policies use them."""
        self._catch_up(nodes)
        cpu = nodes.allocatable[CPU, rows] - nodes.requested[CPU, rows]
        return GpuColumns(cpu, self._left[rows], self._count[rows], self._tags[rows])

    def _catch_up(self, nodes: NodeTable) -> None:
        """Read the nodes whose pods have changed since the last call."""
        more = nodes.capacity - len(self._count)
        if more > 0:
            self._left = np.pad(self._left, ((0, more), (0, 0)))
            self._count = np.pad(self._count, (0, more))
            self._tags = np.pad(self._tags, (0, more))
        for row in self._reader.changed(nodes):
            info = nodes.infos[row]
            if info is not None:
                left, self._tags[row] = self._read(info)
                self._count[row] = len(left)
                self._left[row] = left + [0] * (_MOST - len(left))

    def _read(self, info: NodeInfo) -> tuple[list[int], int]:
        left, tags = [WHOLE] * _count_of(info.allocatable.scalars), 0
        for uid in info.pods:
            taken = self.taken.get(uid)
            if taken is not None:
                tags |= taken.tag
                for device in taken.devices:
                    left[device] -= taken.milli
        return left, tags


def _count_of(resources: Mapping[str, int]) -> int:
    return resources.get(COUNT, 0)
