"""What dry runs have found, by row, for pods of one kind and priority."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster._core.contract.handle import LastingFilters
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import (
    BoolArray,
    Float64Array,
    RowArray,
)
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.preemption.row_trial import RowTrial

__all__ = ["RowMemo", "RowMemos"]

# Chosen, not measured: the kinds of pods whose dry runs are remembered. At 5,000 nodes
# each takes about a megabyte.
_MOST_KINDS: Final = 16

# How many numbers candidates are compared by.
_COSTS: Final = 4


class RowMemo:
    """Keeps who would have to go from each node, until something changes there."""

    def __init__(self) -> None:
        self._revision = -1
        self._nominated: ChangeLog[int] | None = None
        self._nominated_revision = 0
        self._is_known: BoolArray = np.zeros(0, dtype=np.bool_)
        self._is_candidate: BoolArray = np.zeros(0, dtype=np.bool_)
        self._costs: Float64Array = np.zeros((_COSTS, 0))
        self._victims: dict[int, Sequence[str]] = {}
        self._why_not: dict[int, Status] = {}

    def follow(self, nodes: NodeTable, nominated: ChangeLog[int] | None) -> None:
        """Forget what was found on nodes that have changed.

        Args:
            nodes: The snapshot's table.
            nominated: See `LastingFilters`.
        """
        changed = nodes.changes.since(self._revision)
        self._revision = nodes.changes.revision
        if changed is None or len(self._is_known) != nodes.capacity:
            self._forget_all(nodes.capacity)
        elif changed:
            self._is_known[list(changed)] = False
        self._follow_nominated(nominated)

    def unknown(self, rows: RowArray) -> RowArray:
        """Return those of some rows that must be tried."""
        return rows[~self._is_known[rows]]

    def are_candidates(self, rows: RowArray) -> BoolArray:
        """Tell on which of some rows, all known, victims make room."""
        return self._is_candidate[rows]

    def learn(self, infos: Sequence[NodeInfo], trial: RowTrial) -> None:
        """Take over what was found on some nodes.

        Args:
            infos: The nodes.
            trial: What was found on them; it is certain.
        """
        tried = [info.row for info in infos]
        self._is_known[tried] = True
        self._is_candidate[tried] = False
        for info in infos:
            status = trial.why_not(info)
            if status is not None:
                self._why_not[info.row] = status
        indices = trial.found.nonzero()[0]
        if not len(indices):
            return
        rows = trial.rows[indices]
        self._is_candidate[rows] = True
        # As floats: the largest sum of priorities is exact for millions of pods.
        self._costs[:, rows] = trial.costs(indices)
        for row, index in zip(rows.tolist(), indices.tolist(), strict=True):
            self._victims[row] = trial.victim_uids(index)

    def costs(self, rows: RowArray) -> Float64Array:
        """The costs of ``N`` candidates, shape ``(4, N)``; see `RowTrial.costs`."""
        return self._costs[:, rows]

    def victims(self, row: int) -> Sequence[str]:
        """The uids of the victims on a row with a candidate, by rank."""
        return self._victims[row]

    def why_not(self, row: int) -> Status:
        """Why there is no candidate on a row, according to the filters that last."""
        return self._why_not[row]

    def _forget_all(self, capacity: int) -> None:
        self._is_known = np.zeros(capacity, dtype=np.bool_)
        self._is_candidate = np.zeros(capacity, dtype=np.bool_)
        self._costs = np.zeros((_COSTS, capacity))
        self._victims.clear()
        self._why_not.clear()

    def _follow_nominated(self, log: ChangeLog[int] | None) -> None:
        known, self._nominated = self._nominated, log
        # Identity: another log is about nominations that are followed anew.
        is_same = log is known
        if known is not None and not is_same:
            self._forget_all(len(self._is_known))
        if log is None:
            return
        # Until there is a log, nobody is nominated: it begins with the first of them.
        changed = log.since(self._nominated_revision if is_same else 0)
        self._nominated_revision = log.revision
        if changed is None:
            self._forget_all(len(self._is_known))
        elif changed:
            self._is_known[list(changed)] = False


class RowMemos:
    """The memos of the kinds of pods that were tried last."""

    def __init__(self) -> None:
        # Keeps the kinds alive: no other object gets the identity of one.
        self._memos: dict[tuple[object, int], RowMemo] = {}

    def of(self, lasting: LastingFilters, priority: int, nodes: NodeTable) -> RowMemo:
        """Return what is known for pods of a kind and a priority, up to date.

        Args:
            lasting: The filters whose answers last, for pods of that kind.
            priority: The priority of the pods.
            nodes: The snapshot's table.
        """
        key = (lasting.kind, priority)
        memo = self._memos.pop(key, None)
        if memo is None:
            memo = RowMemo()
            if len(self._memos) >= _MOST_KINDS:
                del self._memos[next(iter(self._memos))]
        self._memos[key] = memo
        memo.follow(nodes, lasting.nominated)
        return memo
