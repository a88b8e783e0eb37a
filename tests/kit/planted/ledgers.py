"""A plugin that prefers nodes with few pods of a team, and arrays that change later."""

from collections.abc import Hashable, Sequence

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.hookspecs import PodGroupAssignments
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["LEDGER_MISTAKES", "OWN", "Ledgers"]

TIER = "example.com/tier"
LOW = Status.unschedulable("node(s) had a low tier")
_CAPACITY = 64


def _tier(text: str | None) -> int:
    return int(text) if text is not None and text in ("1", "2", "3") else 0


class Ledgers(Plugin):
    """Correct: returns new arrays."""

    scope = Scope.NODE
    reads: Sequence[type] = (Node,)

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.buffer: Int64Array = np.zeros(_CAPACITY, np.int64)

    @hookimpl
    def sign_pod(self) -> Hashable:
        return ""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_LABEL
        return [on_node(updates), on_pod(Change.DELETE)]

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return LOW if _tier(node.labels.get(TIER)) == 1 else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        is_low = np.asarray(nodes.label(TIER).map(_tier, rows) == 1)
        return NodeVerdicts(self.codes(is_low.astype(np.int64)), lambda _code: LOW)

    def codes(self, codes: Int64Array) -> Int64Array:
        """Return the codes to return."""
        return codes

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return node.requested.memory

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return np.array([node.requested.memory for node in nodes.infos_at(rows)])

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return np.asarray(100 - scores * 100 // max(1, int(scores.max())))


class WritesItsCodesAgain(Ledgers):
    def codes(self, codes: Int64Array) -> Int64Array:
        self.buffer[: len(codes)] = codes
        return self.buffer[: len(codes)]


class NormalizesInPlace(Ledgers):
    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        part = self.buffer[: len(scores)]
        part[:] = super().normalize_score(scores)
        return part


class ReturnsAColumn(Ledgers):
    """Its scores follow the cluster, if the rows are a slice."""

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        memory: Int64Array = nodes.requested_at(rows, slice(1, 2))[0]
        return memory


class UpdatesItsCodesOnEvents(Ledgers):
    """A callback keeps the last codes up to date, in the array that it returned."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.names: Sequence[str] = ()
        self.last = self.buffer
        handle.informers.on_change(Node, self._follow)

    def _follow(self, old: Node | None, new: Node | None) -> None:
        if new is not None and new.name in self.names:
            is_low = _tier(new.metadata.labels.get(TIER)) == 1
            self.last[self.names.index(new.name)] = is_low

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        verdicts = super().filter_nodes(nodes, rows)
        self.names = nodes.names_at(rows)
        self.last = np.asarray(verdicts.codes, np.int64)  # the same memory
        return verdicts


class ScoresPlacements(Plugin):
    """Writes the scores of placements to one array."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.buffer: Int64Array = np.zeros(_CAPACITY, np.int64)

    @hookimpl
    def placement_score(
        self, nodes: NodeTable, assignments: PodGroupAssignments
    ) -> int:
        names = {attempt.node_name for attempt in assignments.attempts}
        labels = [node.labels for node in nodes if node.name in names]
        return sum(_tier(each.get(TIER)) for each in labels)

    @hookimpl
    def placement_scores(
        self, nodes: NodeTable, candidates: Sequence[PodGroupAssignments]
    ) -> Int64Array:
        scores = self.buffer[: len(candidates)]
        scores[:] = [self.placement_score(nodes, each) for each in candidates]
        return scores


OWN = clusters(
    nodes=nodes(*({"labels": {TIER: tier}} for tier in ("1", "2", "3"))),
    pods=pods({"requests": {"memory": "1Gi"}}, {"requests": {"memory": "2Gi"}}),
)
LEDGER_MISTAKES: Sequence[Mistake] = (
    *(
        Mistake(plugin, ["purity"], OWN)
        for plugin in (
            WritesItsCodesAgain,
            NormalizesInPlace,
            ReturnsAColumn,
            UpdatesItsCodesOnEvents,
        )
    ),
    Mistake(ScoresPlacements, ["placement scores"], OWN),
)
