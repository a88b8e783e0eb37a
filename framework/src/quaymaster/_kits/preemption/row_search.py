"""Searches candidates on columns: nodes in turn, many at once."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, overload

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.filter_runner import LastingFilters
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.results import Candidate
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import BoolArray, RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._kits.preemption.candidates import Candidates
from quaymaster._kits.preemption.columns import VictimColumns
from quaymaster._kits.preemption.known_candidates import KnownCandidates
from quaymaster._kits.preemption.row_memo import RowMemo, RowMemos
from quaymaster._kits.preemption.row_trial import RowTrial
from quaymaster._kits.preemption.rules import Limit, LowerPriority, VictimRule
from quaymaster._kits.preemption.search import LaterStatuses, Search

__all__ = ["RowCandidates", "RowSearch"]

# Chosen, not measured: the nodes to try beyond the expected number, so that the search
# rarely needs another round for the last candidates.
_SPARE: Final = 16


class RowSearch:
    """Tries many nodes at once; only if no filter reads single pods.

    Args:
        handle: The framework.
        rule: Selects the possible victims.
        limit: A condition besides the filters, or None.
    """

    def __init__(self, handle: Handle, rule: VictimRule, limit: Limit | None) -> None:
        self._handle = handle
        self._rule = rule
        self._limit = limit
        self._columns = VictimColumns(rule.importance)
        self._memos = RowMemos()
        # ``DryRunPreemption`` tries nodes in parallel until there are enough. Here, a
        # batch has as many nodes as the last search needed, which mostly ends the
        # search with the first batch.
        # The number of nodes per candidate in the last search.
        self._effort = 1.0

    def trial(
        self,
        state: CycleState,
        pod: Pod,
        infos: Sequence[NodeInfo],
        among: Collection[str] | None = None,
    ) -> RowTrial:
        """Try some nodes, in any order; by default with all filters."""
        return RowTrial(
            self._handle,
            state,
            pod,
            infos,
            self._columns,
            self._rule,
            self._limit,
            among,
        )

    def find(
        self, state: CycleState, pod: Pod, rows: RowArray, max_candidates: int
    ) -> tuple["RowCandidates", LaterStatuses] | None:
        """Try nodes from the first on, until there are enough candidates.

        Args:
            state: The pod's scratch space after filtering.
            pod: The pod that needs room.
            rows: The nodes, in the order in which they are tried.
            max_candidates: The number of candidates that ends the search; at least one.

        Returns:
            The candidates and the other statuses; None if nodes must be tried one by
            one.
        """
        nodes = self._handle.snapshot.nodes
        parts: list[_Part] = []
        begun, left = 0, max_candidates
        while left and begun < len(rows):
            size = int(left * self._effort) + _SPARE
            infos = nodes.infos_at(rows[begun : begun + size])
            trial = self.trial(state, pod, infos)
            # Scalar trials decide alone whatever a batch cannot: results must not
            # depend on the way of the search.
            if not _is_certain(trial):
                return None
            parts.append(_Part(infos, trial, left))
            begun += size
            left -= len(parts[-1].candidates)
            tried = sum(len(part.infos) for part in parts)
            self._effort = tried / max(1, max_candidates - left)
        pairs = [
            (part, place) for part in parts for place in range(len(part.candidates))
        ]
        return RowCandidates(pairs), LaterStatuses(lambda: _statuses(parts))

    def find_cached(
        self, state: CycleState, pod: Pod, rows: RowArray, max_candidates: int
    ) -> Search | None:
        """Return the same as `find`, and try only nodes without a cached result.

        Returns:
            The candidates without other statuses; if there are no candidates, the
            statuses. None if `find` must be called.
        """
        lasting = self._lasting(state, pod)
        if lasting is None:
            return None
        nodes = self._handle.snapshot.nodes
        memo = self._memos.of(lasting, pod.priority, nodes)
        parts: list[RowArray] = []
        begun, left = 0, max_candidates
        while left and begun < len(rows):
            part = rows[begun : begun + int(left * self._effort) + _SPARE]
            if not self._learn(state, pod, memo.unknown(part), lasting, memo):
                return None
            # The order of trying stays, since it decides which candidates are found
            # first.
            candidates = part[memo.are_candidates(part)]
            if lasting.others:
                # Filters without a signature may answer differently each time, so they
                # run on the candidates alone: those are few.
                passed = self._passing_others(state, pod, candidates, lasting)
                if passed is None:
                    return None
                candidates = passed
            parts.append(candidates[:left])
            begun += len(part)
            left -= len(parts[-1])
            self._effort = begun / max(1, max_candidates - left)
        if left < max_candidates:
            return Search(KnownCandidates.at(np.concatenate(parts), nodes, memo))
        if lasting.others:
            return None  # the memo lacks their statuses of other nodes
        infos = nodes.infos_at(rows)
        return Search((), {info.name: memo.why_not(info.row) for info in infos})

    def _lasting(self, state: CycleState, pod: Pod) -> LastingFilters | None:
        # Other rules and limits may read more than the pods on a node.
        if self._limit is not None or not isinstance(self._rule, LowerPriority):
            return None
        return self._handle.filters.lasting(state, pod)

    def _learn(
        self,
        state: CycleState,
        pod: Pod,
        rows: RowArray,
        lasting: LastingFilters,
        memo: RowMemo,
    ) -> bool:
        """Try some nodes; return False if nodes must be tried one by one."""
        if not len(rows):
            return True
        infos = self._handle.snapshot.nodes.infos_at(rows)
        trial = self.trial(state, pod, infos, lasting.plugins)
        if not _is_certain(trial):
            return False
        memo.learn(infos, trial)
        return True

    def _passing_others(
        self, state: CycleState, pod: Pod, rows: RowArray, lasting: LastingFilters
    ) -> RowArray | None:
        """Return the rows that the other filters pass; None after an error."""
        nodes = self._handle.snapshot.nodes
        passed = self._handle.filters.run_on_rows(
            state, pod, nodes, np.sort(rows), among=lasting.others
        )
        if isinstance(passed, Status):
            return None
        # An array of flags, because the rows are in the order of trying and the filters
        # return them in ascending order.
        is_passed: BoolArray = np.zeros(nodes.capacity, dtype=np.bool_)
        is_passed[passed.passed] = True
        return rows[is_passed[rows]]


def _is_certain(trial: RowTrial) -> bool:
    """Whether no filter failed, and no node is a candidate without victims."""
    if not trial.is_certain:
        return False
    return not (trial.fits > trial.victims.any(axis=0)).any()


class _Part:
    """Some nodes that were tried together.

    Args:
        infos: The nodes, in the order in which they are tried.
        trial: The trial of these nodes.
        max_candidates: The maximum number of candidates.

    Attributes:
        infos: The nodes up to the last candidate.
        trial: The trial of these nodes.
        candidates: The indexes of the candidates in ``trial.rows``, in the order of
            trying.
        nodes: The node of each candidate.
    """

    def __init__(
        self, infos: Sequence[NodeInfo], trial: RowTrial, max_candidates: int
    ) -> None:
        order = np.array([info.row for info in infos], dtype=np.intp)
        index = np.searchsorted(trial.rows, order)
        index[index == len(trial.rows)] = 0
        is_candidate = np.zeros(len(order), dtype=np.bool_)
        if len(trial.rows):
            is_candidate = trial.fits[index] & (trial.rows[index] == order)
        places = is_candidate.nonzero()[0][:max_candidates]
        # Upstream has not tried the nodes behind the last candidate, and reports no
        # status of them.
        if len(places) == max_candidates:
            infos = infos[: places[-1] + 1]
        self.infos = infos
        self.trial = trial
        self.candidates: RowArray = index[places]
        self.nodes = [infos[place] for place in places.tolist()]
        self._built: dict[int, Candidate] = {}

    def candidate(self, place: int) -> Candidate:
        """Return the candidate at a place in `found`."""
        candidate = self._built.get(place)
        if candidate is None:
            answer = self.trial.answer(self.nodes[place])
            assert isinstance(answer, Candidate), "`candidates` has only candidates"
            candidate = self._built[place] = answer
        return candidate


class RowCandidates(Candidates):
    """Candidates that are built when they are first read.

    Args:
        pairs: The part of each candidate, and its place there.
    """

    def __init__(self, pairs: Sequence[tuple[_Part, int]]) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        part, place = self._pairs[index]
        return part.candidate(place)

    def best(self) -> "RowCandidates":
        """Return the best candidates, sorted by node name."""
        pairs = self._pairs
        parts = dict.fromkeys(part for part, _ in pairs)
        costs = zip(*(part.trial.costs(part.candidates) for part in parts), strict=True)
        left: RowArray = np.arange(len(pairs))
        for column in costs:
            cost = np.concatenate(column)[left]
            left = left[cost == cost.min()]
        best = [pairs[index] for index in left.tolist()]
        best.sort(key=lambda pair: pair[0].nodes[pair[1]].name)
        return RowCandidates(best)


def _statuses(parts: Sequence[_Part]) -> Mapping[str, Status]:
    """Return the statuses of nodes that are not candidates."""
    answers = (
        (info.name, part.trial.answer(info)) for part in parts for info in part.infos
    )
    return {name: answer for name, answer in answers if isinstance(answer, Status)}
