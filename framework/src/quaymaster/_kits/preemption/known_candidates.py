"""Candidates that were found by earlier dry runs."""

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


class KnownCandidates(Candidates):
    """Candidates that are built when somebody asks for them.

    Args:
        infos: Their nodes, in the order of trying.
        victims: The uids of the victims on each node.
        costs: What they are compared by, see `RowTrial.costs`.
        made: Those that were built already, by row.
    """

    def __init__(
        self,
        infos: Sequence[NodeInfo],
        victims: Sequence[Sequence[str]],
        costs: Float64Array,
        made: dict[int, Candidate] | None = None,
    ) -> None:
        self._infos = infos
        self._victims = victims
        self._costs = costs
        self._made = {} if made is None else made

    @classmethod
    def at(cls, rows: RowArray, nodes: NodeTable, memo: RowMemo) -> "KnownCandidates":
        """Return the candidates on some rows, as they are known now."""
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
        made = self._made.get(info.row)
        if made is None:
            victims = tuple([info.pods[uid] for uid in self._victims[index]])
            made = Candidate(node_name=info.name, victims=victims)
            self._made[info.row] = made
        return made

    def best(self) -> "KnownCandidates":
        """The best ones, by the name of the node."""
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
            self._made,
        )
