"""The dry run on many nodes at once, if filters need only sums over pods.

Rank by rank, in the order of importance, the next pod of every node is added again, and
the filters run on all these nodes together, on a trial table.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._base.errors import PluginError
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.results import Candidate, NodeStatuses
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import (
    BoolArray,
    Float64Array,
    Int64Array,
    RowArray,
    Rows,
)
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.preemption.candidates import PRIORITY_OFFSET
from quaymaster._kits.preemption.columns import VictimColumns
from quaymaster._kits.preemption.pod_columns import PodColumns
from quaymaster._kits.preemption.rules import Limit, VictimRule

__all__ = ["NO_VICTIMS", "RowTrial"]

NO_VICTIMS: Final = Status.unresolvable("No preemption victims found for incoming pod")
"""The status of a node without any pod that may be preempted."""


class RowTrial:
    """The dry run of many nodes, without budgets.

    ``N`` is the number of nodes with pods that may be preempted, ``K`` the number of
    ranks.

    Args:
        handle: The framework; no filter of the attempt reads single pods.
        state: The pod's scratch space after filtering.
        pod: The pod that needs room.
        infos: The nodes.
        columns: The pods on them; it is brought up to date.
        rule: Selects the possible victims.
        limit: A condition besides the filters, or None.
        among: The plugins whose filters run; by default all of the attempt.

    Attributes:
        is_certain: Whether no filter failed.
        rows: Shape ``(N,)``, ascending.
        fits: Shape ``(N,)``: whether the pod fits without the victims.
        victims: Shape ``(K, N)``: the victims, by rank.
    """

    def __init__(
        self,
        handle: Handle,
        state: CycleState,
        pod: Pod,
        infos: Sequence[NodeInfo],
        columns: VictimColumns,
        rule: VictimRule,
        limit: Limit | None,
        among: Collection[str] | None = None,
    ) -> None:
        self._handle = handle
        self._among = among
        self._state = state
        self._pod = pod
        self._limit = limit
        nodes = handle.snapshot.nodes
        columns.bring_up(nodes, infos)
        rows: RowArray = np.array([info.row for info in infos], dtype=np.intp)
        rows.sort()
        pods = PodColumns(columns, nodes, rows, rule.group)
        # By rank and row: the possible victims.
        potential = _victims(rule, state, pod, pods)
        # Nodes without a possible victim are settled; the filters do not run on them.
        concerned = np.flatnonzero(potential.any(axis=0))
        self.rows = rows[concerned]
        self._pods = PodColumns(columns, nodes, self.rows, rule.group)
        self._potential = potential[:, concerned]
        self._gone = self._potential.copy()
        self._priority = columns.priority[:, self.rows]
        self._start = columns.start[:, self.rows]
        self._ranks: list[int] = np.flatnonzero(self._potential.any(axis=1)).tolist()
        # The requests of any pod: the table's column, and the amounts by rank and row.
        self._requested = _used(columns.requested[:, :, self.rows])
        self._non_zero = _used(columns.non_zero[:, :, self.rows])
        numbers = self.rows.tolist()
        # Pods are looked up by uid when a candidate is read, since most candidates
        # never are.
        self._uids = [columns.uids(row) for row in numbers]
        self._index_of = {row: index for index, row in enumerate(numbers)}
        self._statuses: list[tuple[BoolArray, NodeStatuses]] = []
        self.fits: BoolArray = np.zeros(len(self.rows), dtype=np.bool_)
        self.victims: BoolArray = np.zeros_like(self._potential)
        # The first is without nominated pods; the second, if any, is with them.
        # A copy of the columns: the trial must not change what other code reads of the
        # snapshot.
        self._tables = [nodes.imagined()]
        self._has_nominated: BoolArray = np.zeros(len(self.rows), dtype=np.bool_)
        self.is_certain = self._imagine_nominated()
        if self.is_certain and len(self.rows):
            self.is_certain = self._run()

    def answer(self, info: NodeInfo) -> Candidate | Status | None:
        """Return the candidate, or a status; None if the node must be tried alone.

        Args:
            info: One of the nodes.
        """
        if not self.is_certain:
            return None
        status = self.why_not(info)
        if status is not None:
            return status
        victims = self._at(info, self._index_of[info.row], self.victims)
        if not victims:
            return None
        return Candidate(node_name=info.name, victims=victims)

    def why_not(self, info: NodeInfo) -> Status | None:
        """Return the status of a node that is not a candidate, else None.

        Call it only if no filter failed.

        Args:
            info: One of the nodes.
        """
        index = self._index_of.get(info.row)
        if index is None:
            return NO_VICTIMS
        return None if self.fits[index] else self._rejection(info, index)

    def victim_uids(self, index: int) -> Sequence[str]:
        """Return the uids of the victims on a node, by rank.

        Args:
            index: The index of the node in ``rows``.
        """
        uids = self._uids[index]
        return [uids[rank] for rank in self.victims[:, index].nonzero()[0].tolist()]

    def costs(self, indices: RowArray) -> Sequence[Int64Array | Float64Array]:
        """Return the costs by which candidates are compared; the first counts most.

        Args:
            indices: The indexes of the candidates in ``rows``.
        """
        victims, priority = self.victims[:, indices], self._priority[:, indices]
        first = victims.argmax(axis=0), np.arange(len(indices))
        # A rule's own order need not start with the highest priority.
        weights = np.where(victims, priority + PRIORITY_OFFSET, 0)
        highest = victims & (weights == weights.max(axis=0))
        earliest = np.where(highest, self._start[:, indices], np.inf).min(axis=0)
        return priority[first], weights.sum(axis=0), victims.sum(axis=0), -earliest

    def _at(self, info: NodeInfo, index: int, chosen: BoolArray) -> tuple[Pod, ...]:
        uids, pods = self._uids[index], info.pods
        ranks = chosen[:, index].nonzero()[0].tolist()
        return tuple([pods[uids[rank]] for rank in ranks])

    def _rejection(self, info: NodeInfo, index: int) -> Status | None:
        for rejected, statuses in self._statuses:
            if rejected[index]:
                return statuses[info.name]
        assert self._limit is not None, "no filter rejected the node"
        gone = self._at(info, index, self._potential)
        return self._limit.exceeded(self._state, self._pod, info, gone)

    def _imagine_nominated(self) -> bool:
        """Add nominated pods; False if the table has no column for a resource."""
        imagined = self._handle.filters.imagine_nominated_pods(self._pod)
        if imagined is None:
            return False
        table, is_nominated = imagined
        has_nominated: BoolArray = is_nominated[self.rows]
        if has_nominated.any():
            self._tables.append(table)
            self._has_nominated = has_nominated
        return True

    def _run(self) -> bool:
        """Try the nodes; return False if a filter failed."""
        self._remove_all()
        passed = self._fitting(np.arange(len(self.rows)), None)
        if passed is None:
            return False
        self.fits = passed = self._within_limit(np.arange(len(self.rows)), passed)
        # The nodes go through their ranks together: one call of the filters per rank
        # instead of one per pod and node. A node with few pods simply has nothing to
        # return in late ranks.
        for rank in self._ranks:
            returning = (self._potential[rank] & passed).nonzero()[0]
            if not len(returning):
                continue
            self._move(rank, returning, 1)
            # Only sums over pods have changed since the first run, so filters that read
            # none are not called again.
            fitting = self._fitting(returning, PodUse.SUMS)
            if fitting is None:
                return False
            # The limit, if any, counts these pods as present again.
            self._gone[rank, returning] = False
            fitting = self._within_limit(returning, fitting)
            leaving = returning[~fitting]
            if len(leaving):
                self._move(rank, leaving, -1)
                self._gone[rank, leaving] = True
                self.victims[rank, leaving] = True
        return True

    def _remove_all(self) -> None:
        going, rows = self._potential, self.rows
        for table in self._tables:
            for column, amounts in self._columns(table):
                column[rows] -= (amounts * going).sum(axis=0)
            table.pod_count[rows] -= going.sum(axis=0)

    def _move(self, rank: int, indices: RowArray, sign: int) -> None:
        """Add (1) or remove (-1) the pods of one rank on some nodes."""
        rows = self.rows[indices]
        for table in self._tables:
            for column, amounts in self._columns(table):
                column[rows] += sign * amounts[rank, indices]
            table.pod_count[rows] += sign

    def _columns(self, table: NodeTable) -> Iterator[tuple[Int64Array, Int64Array]]:
        # See `_used`: of many columns, these pods often request two.
        for index, amounts in self._requested:
            yield table.requested[index], amounts
        for index, amounts in self._non_zero:
            yield table.non_zero_requested[index], amounts

    def _fitting(self, indices: RowArray, pod_use: PodUse | None) -> BoolArray | None:
        """Return on which nodes the pod fits, both with and without nominated pods.

        None if a filter failed. The statuses of the first run, without any possible
        victim, are kept.
        """
        nominated = self._has_nominated[indices]
        fitting = self._filtered(self._tables[-1], indices, pod_use)
        if fitting is None or len(self._tables) == 1:
            return fitting
        # As in ``RunFilterPluginsWithNominatedPods``, a pod must fit with the nominated
        # pods, and also if none of them ever comes.
        again = (fitting & nominated).nonzero()[0]
        if len(again):
            alone = self._filtered(self._tables[0], indices[again], pod_use)
            if alone is None:
                return None
            fitting[again] = alone
        return fitting

    def _within_limit(self, indices: RowArray, fitting: BoolArray) -> BoolArray:
        """Return which of the fitting nodes are also within the limit."""
        if self._limit is None:
            return fitting
        exceeded = self._limit.exceeded_on_rows(
            self._state, self._pod, self._pods, self._gone
        )
        _check(self._limit, "exceeded_on_rows", exceeded, (len(self.rows),))
        return fitting & ~exceeded[indices]

    def _filtered(
        self, table: NodeTable, indices: RowArray, pod_use: PodUse | None
    ) -> BoolArray | None:
        rows = self.rows[indices]
        filtered = self._handle.filters.run_on_rows(
            self._state, self._pod, table, rows, pod_use, self._among
        )
        if isinstance(filtered, Status):
            return None
        passed = self._is_among(rows, filtered.passed)
        if pod_use is None:
            rejected: BoolArray = np.zeros(len(self.rows), dtype=np.bool_)
            rejected[indices] = ~passed
            # Kept as they came; the message of a node is rendered only if it is read.
            self._statuses.append((rejected, filtered.statuses))
        return passed

    def _is_among(self, rows: RowArray, passed: Rows) -> BoolArray:
        """Return whether each of some rows has passed; both are ascending."""
        is_passed: BoolArray = np.zeros(self._tables[0].capacity, dtype=np.bool_)
        is_passed[passed] = True
        return is_passed[rows]


def _victims(
    rule: VictimRule, state: CycleState, pod: Pod, pods: PodColumns
) -> BoolArray:
    victims = rule.victims_on_rows(state, pod, pods)
    _check(rule, "victims_on_rows", victims, pods.priority.shape)
    return victims & pods.is_pod


def _check(
    owner: VictimRule | Limit, method: str, result: BoolArray, shape: tuple[int, ...]
) -> None:
    if result.shape != shape or result.dtype != np.bool_:
        raise PluginError(
            type(owner).__name__,
            method,
            f"returned shape {result.shape}, dtype {result.dtype}, "
            f"expected shape {shape}, dtype bool",
        )


def _used(amounts: Int64Array) -> Sequence[tuple[int, Int64Array]]:
    """Return the resources that any pod requests, with amounts by rank and row."""
    used = np.flatnonzero(amounts.any(axis=(0, 2))).tolist()
    return [(index, np.ascontiguousarray(amounts[:, index])) for index in used]
