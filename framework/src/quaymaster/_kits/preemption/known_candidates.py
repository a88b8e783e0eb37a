"""Candidates from cached results of earlier dry runs."""

from collections.abc import Sequence
from typing import overload

import numpy as np

from quaymaster._core.contract.results import Candidate
from quaymaster._core.state.arrays import Float64Array, RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.preemption.candidates import Candidates
from quaymaster._kits.preemption.row_memo import RowMemo

__all__ = ["KnownCandidates"]


# Of a hundred candidates only the best is read, so that the others never become
# objects.
class KnownCandidates(Candidates):
    """Candidates that are built when they are first read.

    Args:
        infos: Their nodes, in the order of trying.
        victims: The uids of the victims on each node.
        costs: Their costs, see `RowTrial.costs`.
        built: The candidates that are built already, by row.
    """

    def __init__(
        self,
        infos: Sequence[NodeInfo],
        victims: Sequence[Sequence[str]],
        costs: Float64Array,
        built: dict[int, Candidate] | None = None,
    ) -> None:
        self._infos = infos
        self._victims = victims
        self._costs = costs
        self._built = {} if built is None else built

    @classmethod
    def at(cls, rows: RowArray, nodes: NodeTable, memo: RowMemo) -> "KnownCandidates":
        """Return the cached candidates on some rows."""
        victims = [memo.victims(row) for row in rows.tolist()]
        return cls(nodes.infos_at(rows), victims, memo.costs(rows))

    def __len__(self) -> int:
        return len(self._infos)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        info = self._infos[index]
        candidate = self._built.get(info.row)
        if candidate is None:
            victims = tuple([info.pods[uid] for uid in self._victims[index]])
            candidate = Candidate(node_name=info.name, victims=victims)
            self._built[info.row] = candidate
        return candidate

    def best(self) -> "KnownCandidates":
        """Return the best candidates, sorted by node name."""
        # One cost after another, as upstream: the next one is read only for candidates
        # that are equal so far.
        left: RowArray = np.arange(len(self))
        for cost in self._costs:
            own = cost[left]
            left = left[own == own.min()]
        infos, victims = self._infos, self._victims
        places = sorted(left.tolist(), key=lambda place: infos[place].name)
        return KnownCandidates(
            [infos[place] for place in places],
            [victims[place] for place in places],
            self._costs[:, places],
            self._built,
        )
