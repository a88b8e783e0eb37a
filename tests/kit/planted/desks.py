"""A plugin with batch twins that count pods, and mistakes in them."""

from collections.abc import Callable, Sequence

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.columns import PodColumn
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["DESK_MISTAKES", "OWN", "CountsDesks", "Desks"]

DESKS = "example.com/desks"
MOST = 2
FULL = Status.unschedulable("node(s) had no free desk")


def desks_of(pod: Pod) -> int | None:
    """Return the desks that a pod takes; None for no desk."""
    return 1 if pod.labels.get(DESKS) == "yes" else None


def total(_node: NodeInfo, desks: Sequence[int]) -> list[int]:
    """Return the desks that are taken on a node."""
    return [sum(desks)]


class Desks(Plugin):
    """Correct: a node has two desks."""

    scope = Scope.NODE
    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.taken = PodColumn(desks_of, total, width=1)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return FULL if desks_of(pod) and self.taken.on(node)[0] >= MOST else None

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        if not desks_of(pod):
            return None
        codes = (self.count(nodes, rows) >= MOST).astype(np.int64)
        return NodeVerdicts(codes=codes, status_of=lambda _code: FULL)

    def count(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        """Return the desks that are taken on each node."""
        taken: Int64Array = self.taken.of(nodes)[rows][:, 0]
        return taken

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD), on_pod(Change.DELETE | Change.UPDATE_POD_LABEL)]


class ReadsAllPods(Desks):
    def count(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return np.array(
            [
                sum(desks_of(pod) or 0 for pod in info.pods.values())
                for info in nodes.infos_at(rows)
            ],
            dtype=np.int64,
        )


class MakesAColumnInEachCall(Desks):
    def count(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        column = PodColumn(desks_of, total, width=1)
        taken: Int64Array = column.of(nodes)[rows][:, 0]
        return taken


def taken_desks(taken: int) -> Status:
    """Return the reason for a node."""
    return Status.unschedulable(f"{taken} desks were taken")


class CountsDesks(Desks):
    """Correct: its reasons have numbers, which are rendered late."""

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        taken = int(self.taken.on(node)[0])
        return taken_desks(taken) if desks_of(pod) and taken >= MOST else None

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        if not desks_of(pod):
            return None
        counts = self.count(nodes, rows)
        codes = np.where(counts >= MOST, np.arange(1, len(counts) + 1), 0)
        return NodeVerdicts(codes=codes, status_of=self.reasons(counts, nodes, rows))

    def reasons(
        self, counts: Int64Array, _nodes: NodeTable, _rows: Rows
    ) -> Callable[[int], Status]:
        """Return the function that renders reasons, from a copy of the column."""
        fixed = counts.copy()
        return lambda code: taken_desks(int(fixed[code - 1]))


class KeepsCountsForReasons(CountsDesks):
    def reasons(
        self, counts: Int64Array, _nodes: NodeTable, _rows: Rows
    ) -> Callable[[int], Status]:
        self.counts = counts
        return lambda code: taken_desks(int(self.counts[code - 1]))


class KeepsAViewForReasons(CountsDesks):
    def reasons(
        self, counts: Int64Array, _nodes: NodeTable, _rows: Rows
    ) -> Callable[[int], Status]:
        return lambda code: taken_desks(int(counts[code - 1]))


class CountsAgainForReasons(CountsDesks):
    def reasons(
        self, _counts: Int64Array, nodes: NodeTable, rows: Rows
    ) -> Callable[[int], Status]:
        return lambda code: taken_desks(int(self.count(nodes, rows)[code - 1]))


OWN = clusters(pods=pods({"labels": {DESKS: "yes"}}))
DESK_MISTAKES: Sequence[Mistake] = (
    Mistake(ReadsAllPods, ["batch work"], OWN),
    Mistake(MakesAColumnInEachCall, ["batch work"], OWN),
    Mistake(KeepsCountsForReasons, ["twin"], OWN),
    Mistake(KeepsAViewForReasons, ["twin"], OWN),
    Mistake(CountsAgainForReasons, ["twin"], OWN),
)
