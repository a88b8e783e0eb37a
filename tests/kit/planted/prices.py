"""Mistakes in a plugin that prefers cheap nodes, by data from outside."""

import math
import threading
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    PodUse,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["PRICE_MISTAKES", "STOP", "Prices", "ReadsFloats"]

TYPE, SPOT = "example.com/type", "example.com/spot"
TOO_CHEAP = Status.unresolvable("a critical pod does not run on spot nodes")
OWN = clusters(
    nodes=nodes(
        {"labels": {TYPE: "big"}},
        {"labels": {TYPE: "small"}},
        {"labels": {SPOT: "true"}},
    ),
    pods=pods({"priority": 5000}, {"priority": 1}),
)
STOP = threading.Event()
"""Ends the thread that a plugin leaves running."""


class Prices(Plugin):
    """Correct: reads prices when it starts."""

    scope = Scope.NODE
    pod_use = PodUse.NONE

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.prices: Mapping[str, int] = {}

    @hookimpl
    def start(self) -> None:
        self.handle.run_in_background(lambda: {"big": 10, "small": 75}, self._learn)

    def _learn(self, prices: Mapping[str, int]) -> None:
        self.prices = prices
        self.handle.changed()

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD | Change.UPDATE_NODE_LABEL)]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.priority >= 1000

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_critical = pod.priority >= 1000
        return TOO_CHEAP if is_critical and SPOT in node.labels else None

    def _price(self, kind: str | None) -> int:
        return self.prices.get(kind or "", 0)

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self._price(node.labels.get(TYPE))

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return np.asarray(nodes.label(TYPE).map(self._price, rows))


class RegistersNoEvents(Prices):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return []


class ForgetsLabels(Prices):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD)]


class SignsWithoutPriority(Prices):
    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return ""


class TwinOffByOne(Prices):
    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        column = nodes.label(TYPE)
        return np.asarray(column.map(lambda kind: self._price(kind) + (not kind), rows))


class WritesLabels(Prices):
    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        labels = node.node.metadata.labels
        assert isinstance(labels, dict)
        labels["seen"] = "yes"
        return super().filter(pod, node)


class ForgetsChanged(Prices):
    def _learn(self, prices: Mapping[str, int]) -> None:
        self.prices = prices
        more = {kind: price + 1 for kind, price in prices.items()}
        self.handle.clock.call_later(5, lambda: self._learn_late(more))

    def _learn_late(self, prices: Mapping[str, int]) -> None:
        self.prices = prices


class ReadsFloats(Prices):
    """Correct: the price may be a text of the node, which may be any text."""

    def _price(self, kind: str | None) -> int:
        try:
            return self._rounded(float(kind or ""))
        except ValueError:
            return super()._price(kind)

    def _rounded(self, price: float) -> int:
        return int(min(max(price, 0), 100)) if math.isfinite(price) else 0


class RoundsFloatsThatAreNotFinite(Prices):
    def _price(self, kind: str | None) -> int:
        try:
            price = float(kind or "")
        except ValueError:
            return 0
        return min(100, max(0, math.ceil(price)))


class LeavesAThread(Prices):
    @hookimpl
    def start(self) -> None:
        threading.Thread(target=STOP.wait, daemon=True, name="prices").start()


class ScoresTooMuch(Prices):
    def _price(self, kind: str | None) -> int:
        return super()._price(kind) * 2


PRICE_MISTAKES: Sequence[Mistake] = (
    Mistake(RegistersNoEvents, ["events"], OWN),
    Mistake(ForgetsLabels, ["events"], OWN),
    Mistake(SignsWithoutPriority, ["signature"], OWN),
    Mistake(TwinOffByOne, ["twin"], OWN),
    Mistake(WritesLabels, ["purity"], OWN),
    Mistake(ForgetsChanged, ["time"], OWN),
    Mistake(RoundsFloatsThatAreNotFinite, ["failures"], OWN),
    Mistake(LeavesAThread, ["leaks"], OWN),
    Mistake(ScoresTooMuch, ["score range"], OWN),
)
