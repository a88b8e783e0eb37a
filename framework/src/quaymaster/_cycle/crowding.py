"""The verdicts of filters on nodes with nominated pods, remembered node by node."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from quaymaster.arrays import Int32Array, RowArray
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.status import Status

__all__ = ["Ahead", "CrowdMemo", "CrowdRejections", "JudgeCrowded"]

Ahead: TypeAlias = Mapping[int, Sequence[Pod]]
"""Rows -> the nominated pods that a pod must leave room for there."""

JudgeCrowded: TypeAlias = Callable[[Ahead], Mapping[int, Status] | Status]
"""Judges some rows as if those pods ran there: the rejected ones, or an Error."""


class CrowdRejections:
    """The nodes that are no good if the pods come that are nominated there.

    Args:
        by_row: Row -> its status.
    """

    def __init__(self, by_row: Mapping[int, Status]) -> None:
        self._by_row = by_row

    def __len__(self) -> int:
        return len(self._by_row)

    @cached_property
    def rows(self) -> RowArray:
        """The rejected rows, ascending."""
        return np.array(sorted(self._by_row), dtype=np.intp)

    @cached_property
    def codes(self) -> Int32Array:
        """The code of each."""
        code_of = {status: code for code, status in enumerate(self._statuses)}
        codes = [code_of[self._by_row[row]] for row in self.rows.tolist()]
        return np.array(codes, dtype=np.int32)

    def status(self, code: int) -> Status:
        """The status behind a code, with its plugin."""
        return self._statuses[code]

    @cached_property
    def _statuses(self) -> Sequence[Status]:
        return tuple(dict.fromkeys(self._by_row.values()))


class CrowdMemo:
    """What the filters said of crowded nodes, for one signature.

    All of them must be remembered for that signature: then nothing but the node and
    the pods that are nominated to it decides.
    """

    __slots__ = ("_known", "_position")

    def __init__(self) -> None:
        self._position = -1
        self._known: dict[int, tuple[Sequence[Pod], Status | None]] = {}

    def rejections(
        self, nodes: NodeTable, ahead: Ahead, judge: JudgeCrowded
    ) -> CrowdRejections | Status:
        """Who is rejected of the crowded rows, asking only about what has changed.

        Args:
            nodes: The columns of all nodes.
            ahead: All crowded rows.
            judge: Asks the filters.

        Returns:
            The rejections, or the Error that a plugin met.
        """
        known = self._known
        moved = nodes.moved_since(self._position) if self._position >= 0 else None
        self._position = nodes.position
        if moved is None:
            known.clear()
        else:
            for row in moved:
                known.pop(row, None)
        rejected: dict[int, Status] = {}
        unknown: dict[int, Sequence[Pod]] = {}
        for row, others in ahead.items():
            verdict = known.get(row)
            if verdict is None or verdict[0] != others:
                unknown[row] = others
            elif verdict[1] is not None:
                rejected[row] = verdict[1]
        if unknown:
            found = judge(unknown)
            if isinstance(found, Status):
                return found
            rejected.update(found)
            for row, others in unknown.items():
                known[row] = others, found.get(row)
        return CrowdRejections(rejected)
