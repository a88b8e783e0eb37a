"""Compare volume limits and volumes in use, for many nodes at once."""

from collections.abc import Collection
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from quaymaster import BoolArray, Informers, Int64Array, NodeTable, Rows
from quaymaster.columns import CodedColumn, ObjectColumn
from quaymaster.objects import CSINode
from quaymaster_node_volume_limits.attachable import (
    Attachable,
    VolumeError,
    listed_limits,
)
from quaymaster_node_volume_limits.attachments import Attachments
from quaymaster_node_volume_limits.usage import VolumeUsage

__all__ = ["VolumeRows"]

Limits: TypeAlias = tuple[tuple[str, int], ...]

_NO_LIMIT: Final = 1 << 62


class VolumeRows:
    """Maintains columns of the volumes in use on all nodes, and of their limits.

    Args:
        informers: The engine's copy of the cluster.
        attachments: The volumes of VolumeAttachments.
    """

    def __init__(self, informers: Informers, attachments: Attachments) -> None:
        self._usage = VolumeUsage(informers, attachments)
        self._column = ObjectColumn(informers, CSINode, listed_limits)
        self._limits: CodedColumn[Limits] = CodedColumn(0)
        self._listed = ObjectColumn(informers, CSINode, _drivers)
        self._drivers: CodedColumn[tuple[str, ...]] = CodedColumn(0)
        self._limits_revision = -1
        self._has_csi_node: BoolArray = np.zeros(0, dtype=np.bool_)
        self._allowed: dict[str, Int64Array] = {}

    def sync(self, nodes: NodeTable) -> None:
        """Process changes of limits; volumes in use are processed when needed."""
        self._limits = self._column.of(nodes)
        self._drivers = self._listed.of(nodes)
        if self._column.revision != self._limits_revision:
            self._limits_revision = self._column.revision
            self._has_csi_node = self._limits.codes >= 0
            self._allowed.clear()

    def has_limits(self, nodes: NodeTable) -> bool:
        """Return whether any node has a limit."""
        # Values of deleted nodes remain for a while, which does no harm.
        return any(self._column.of(nodes).values)

    def has_csi_node(self, rows: Rows) -> BoolArray:
        """Return which nodes have a CSINode, shape ``(N,)``."""
        flags: BoolArray = self._has_csi_node[rows]
        return flags

    def has_driver(self, driver: str, rows: Rows) -> BoolArray:
        """Return which nodes list a driver, shape ``(N,)``."""
        return self._drivers.test(lambda listed: driver in (listed or ()), rows)

    def exceeded(
        self, pod_volumes: Collection[Attachable], nodes: NodeTable, rows: Rows
    ) -> BoolArray | None:
        """Find the nodes where a pod's volumes exceed a limit; None if there are none.

        Args:
            pod_volumes: The volumes that the pod needs.
            nodes: The nodes.
            rows: The rows in question.
        """
        self._usage.sync(nodes)
        by_driver: dict[str, list[Attachable]] = {}
        for volume in pod_volumes:
            by_driver.setdefault(volume.driver, []).append(volume)
        exceeded: BoolArray | None = None
        for driver, volumes in by_driver.items():
            room = self._allowed_of(driver)[rows]
            counts = self._usage.counts(driver)
            if counts is not None:
                room = room - counts[rows]
            added = self._added(volumes, nodes, rows)
            short: BoolArray = room < added
            if short.any():
                # A node that exceeds its limit already accepts pods whose volumes are
                # all in use there.
                short &= added > 0
                exceeded = short if exceeded is None else exceeded | short
        return exceeded

    def first_problem(
        self, nodes: NodeTable, rows: Rows, passed_over: BoolArray
    ) -> tuple[int, VolumeError] | None:
        """Find the first node with limits and a malformed volume of a pod.

        Args:
            nodes: The nodes.
            rows: The rows in question.
            passed_over: Whether to ignore a row, shape ``(N,)``.
        """
        self._usage.sync(nodes)
        problems, limits = self._usage.problems, self._limits
        if not problems:
            return None
        for position, row in enumerate(nodes.row_numbers(rows).tolist()):
            error, code = problems.get(row), int(limits.codes[row])
            if error is None or passed_over[position]:
                continue
            if code >= 0 and limits.values[code]:
                return position, error
        return None

    def _allowed_of(self, driver: str) -> Int64Array:
        allowed = self._allowed.get(driver)
        if allowed is None:
            rows = slice(0, len(self._limits.codes))
            allowed = self._limits.map(partial(_allowed, driver), rows)
            self._allowed[driver] = allowed
        return allowed

    def _added(
        self, volumes: Collection[Attachable], nodes: NodeTable, rows: Rows
    ) -> Int64Array | int:
        """Count the volumes that are not in use yet, by row or as one number."""
        users = [self._usage.users.get(volume) for volume in volumes]
        if not any(users):
            return len(volumes)
        added: Int64Array = np.full(nodes.capacity, len(volumes), dtype=np.int64)
        for using in users:
            if using:
                # A requested volume that is attached but used by no pod there counts
                # twice, as in upstream.
                added[list(using)] -= 1
        return added[rows]


def _drivers(csi_node: CSINode) -> tuple[str, ...]:
    return tuple(driver.name for driver in csi_node.spec.drivers)


def _allowed(driver: str, limits: Limits | None) -> int:
    return _NO_LIMIT if limits is None else dict(limits).get(driver, _NO_LIMIT)
