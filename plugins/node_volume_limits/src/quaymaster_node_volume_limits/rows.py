"""Limits of volumes, compared for many nodes at once."""

from collections.abc import Collection
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from quaymaster import NodeTable
from quaymaster.arrays import BoolArray, Int64Array, Rows
from quaymaster.node_table import CodedColumn
from quaymaster_node_volume_limits.attachable import Attachable, VolumeError
from quaymaster_node_volume_limits.usage import VolumeUsage

__all__ = ["Limits", "exceeds", "first_problem"]

Limits: TypeAlias = CodedColumn[tuple[tuple[str, int], ...]]
"""The limits of each driver, by row; no value where there is no CSINode."""

_NO_LIMIT: Final = 1 << 62


def exceeds(
    wanted: Collection[Attachable],
    usage: VolumeUsage,
    limits: Limits,
    nodes: NodeTable,
    rows: Rows,
) -> BoolArray:
    """Where a pod's volumes would exceed a limit, shape ``(N,)``.

    Args:
        wanted: The volumes that the pod needs attached.
        usage: What is attached, up to date.
        limits: The limits.
        nodes: The nodes.
        rows: The rows in question.
    """
    exceeded: BoolArray = np.zeros(nodes.count(rows), dtype=np.bool_)
    by_driver: dict[str, list[Attachable]] = {}
    for one in wanted:
        by_driver.setdefault(one.driver, []).append(one)
    for driver, volumes in by_driver.items():
        allowed = limits.map(partial(_allowed, driver), rows)
        added = _added(volumes, usage, nodes)[rows]
        counts = usage.counts(driver)
        total = added if counts is None else counts[rows] + added
        exceeded |= (total > allowed) & (added > 0)
    return exceeded


def _allowed(driver: str, limits: tuple[tuple[str, int], ...] | None) -> int:
    return _NO_LIMIT if limits is None else dict(limits).get(driver, _NO_LIMIT)


def _added(
    volumes: Collection[Attachable], usage: VolumeUsage, nodes: NodeTable
) -> Int64Array:
    """How many volumes are not in use yet, by row."""
    added: Int64Array = np.full(len(nodes.pod_count), len(volumes), dtype=np.int64)
    for volume in volumes:
        # A wanted volume that is attached, but used by no pod there, counts on both
        # sides, as upstream.
        users = usage.users.get(volume)
        if users:
            added[list(users)] -= 1
    return added


def first_problem(
    usage: VolumeUsage, limits: Limits, nodes: NodeTable, rows: Rows
) -> tuple[int, VolumeError] | None:
    """The first position with limits and with pods whose volumes make no sense."""
    if not usage.problems:
        return None
    for position, row in enumerate(nodes.row_numbers(rows).tolist()):
        error, code = usage.problems.get(row), int(limits.codes[row])
        if error is not None and code >= 0 and limits.values[code]:
            return position, error
    return None
