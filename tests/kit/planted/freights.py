"""A plugin whose twins count bytes and prices, and twins with too few bits."""

from collections.abc import Hashable, Sequence

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
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
from quaymaster.columns import CPU, MEMORY
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["FREIGHT_MISTAKES", "OWN", "Freights"]

TARIFF, MOST = "example.com/tariff", "example.com/most-mebibytes"
FULL = Status.unschedulable("node(s) carried too much")
_MEBIBYTE = 1 << 20


def _number(text: str | None) -> int:
    is_number = text is not None and text.isdecimal() and len(text) <= 12
    return int(text) if text is not None and is_number else 0


class Freights(Plugin):
    """Correct: nodes carry so many bytes, and the cheapest are best."""

    scope = Scope.NODE
    reads = ()

    @hookimpl
    def sign_pod(self) -> Hashable:
        return ""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_LABEL
        return [on_node(updates), on_pod(Change.DELETE | Change.UPDATE)]

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        most = _number(node.labels.get(MOST)) * _MEBIBYTE
        return FULL if most and node.requested.memory > most else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        most = np.asarray(nodes.label(MOST).map(_number, rows) * _MEBIBYTE)
        is_full = self.is_more(nodes.requested[MEMORY, rows], most) & (most > 0)
        return NodeVerdicts(is_full.astype(np.int64), lambda _code: FULL)

    def is_more(self, used: Int64Array, most: Int64Array) -> Int64Array:
        """Compare amounts of bytes."""
        return np.asarray(used > most)

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return node.requested.milli_cpu * _number(node.labels.get(TARIFF)) // 1000

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        tariffs = np.asarray(nodes.label(TARIFF).map(_number, rows))
        return self.costs(nodes.requested[CPU, rows], tariffs)

    def costs(self, milli_cpu: Int64Array, tariffs: Int64Array) -> Int64Array:
        """Return the cost of each node."""
        return np.asarray(milli_cpu * tariffs // 1000)

    @hookimpl
    def normalize_score(self, pod: Pod, scores: Int64Array) -> Int64Array:
        best = max(1, int(scores.max()))
        shares = [100 - score * 100 // best for score in scores.tolist()]
        return np.array(shares, dtype=np.int64)


class MultipliesInInt32(Freights):
    def costs(self, milli_cpu: Int64Array, tariffs: Int64Array) -> Int64Array:
        costs = milli_cpu.astype(np.int32) * tariffs.astype(np.int32)
        return np.asarray(costs.astype(np.int64) // 1000)


class KeepsTheResultInInt32(Freights):
    def costs(self, milli_cpu: Int64Array, tariffs: Int64Array) -> Int64Array:
        costs = super().costs(milli_cpu, tariffs)
        return np.asarray(costs.astype(np.int32).astype(np.int64))


class RaisesForLargeCosts(Freights):
    def costs(self, milli_cpu: Int64Array, tariffs: Int64Array) -> Int64Array:
        costs = super().costs(milli_cpu, tariffs).tolist()
        return np.array(costs, dtype=np.int32).astype(np.int64)


class ReadsTariffsAsInt32(Freights):
    """Its numbers are large only if the labels have large numbers."""

    def costs(self, milli_cpu: Int64Array, tariffs: Int64Array) -> Int64Array:
        return super().costs(milli_cpu, tariffs.astype(np.int32).astype(np.int64))


class ComparesInInt32(Freights):
    """It counts the memory in kibibytes."""

    def is_more(self, used: Int64Array, most: Int64Array) -> Int64Array:
        return np.asarray((used >> 10).astype(np.int32) > (most >> 10))


OWN = clusters(
    nodes=nodes(
        {"labels": {TARIFF: "5"}},
        {"labels": {TARIFF: "3000"}},
        {"labels": {MOST: "2048"}},
    ),
    pods=pods(
        {"requests": {"cpu": "1", "memory": "900Mi"}},
        {"requests": {"cpu": "300m", "memory": "1500Mi"}},
    ),
)
FREIGHT_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(plugin, ["twin"], OWN)
    for plugin in (
        MultipliesInInt32,
        KeepsTheResultInInt32,
        RaisesForLargeCosts,
        ReadsTariffsAsInt32,
        ComparesInInt32,
    )
)
