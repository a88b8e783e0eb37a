"""A plugin that reads data from outside, with arguments, and mistakes in it."""

import socket
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import ClassVar

import attrs

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Node,
    NodeInfo,
    PodUse,
    Scope,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.config import integer
from quaymaster.testing import clusters, nodes
from tests.kit.planted.mistake import Mistake

__all__ = ["FEED_MISTAKES", "OWN", "Feeds", "ScoresByLoad", "stubbed"]

PARTS = "example.com/parts"
_args: object = None
BUSY = Status.unresolvable("node(s) were busy")


@attrs.frozen(kw_only=True)
class FeedsArgs:
    """Arguments that are validated."""

    period_seconds: int = attrs.field(default=15, validator=integer(1))
    most: int = attrs.field(default=1, validator=integer(1))


class Feeds:
    """Correct: reads a server in the background, and prefers nodes with few parts."""

    Args: ClassVar[type] = FeedsArgs

    def __init__(self, args: FeedsArgs, handle: Handle) -> None:
        self.args = args
        self.handle = handle
        self.load = 1
        self.limits = self.read()

    def read(self) -> str:
        """Read a file."""
        return Path(__file__).read_text(encoding="utf-8")

    def fetch(self) -> int:
        """Read the server."""
        try:
            with socket.create_connection(("feeds.invalid", 80), timeout=1):
                return 1
        except OSError:
            return 0

    @hookimpl
    def start(self) -> None:
        self.handle.run_in_background(self.fetch, self.arrive)

    def arrive(self, load: int) -> None:
        """Receive the load, and read it again later."""
        self.load = load
        clock = self.handle.clock
        clock.call_later(self.args.period_seconds, self.start, background=True)

    def parts(self, node: NodeInfo) -> Sequence[str]:
        """Return the parts of a node."""
        return [part for part in node.labels.get(PARTS, "").split(".") if part]

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return BUSY if len(self.parts(node)) > self.args.most else None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return max(0, 100 - 100 * len(self.parts(node)) // self.args.most)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD | Change.UPDATE_NODE_LABEL)]


class ConnectsInStart(Feeds):
    @hookimpl
    def start(self) -> None:
        self.arrive(self.fetch())


class ReadsNoMoreAfterAFailure(Feeds):
    def arrive(self, load: int) -> None:
        if load:
            super().arrive(load)


class ReadsAgainAtOnceAfterAFailure(Feeds):
    def arrive(self, load: int) -> None:
        if load:
            super().arrive(load)
        else:
            self.start()


class ReadsAgainTooSoonAfterAFailure(Feeds):
    def arrive(self, load: int) -> None:
        if load:
            super().arrive(load)
        else:
            self.handle.clock.call_later(0.1, self.start, background=True)


class RaisesInItsTask(Feeds):
    def fetch(self) -> int:
        with socket.create_connection(("feeds.invalid", 80), timeout=1):
            return 1


class ReadsAFileInFilter(Feeds):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.read()
        return super().filter(node)


class ListsTheClusterInFilter(Feeds):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.handle.cluster.list(Node)
        return super().filter(node)


class ScoresBelowZero(Feeds):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return BUSY if node.labels.get(PARTS) == "b" else None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 100 - 40 * len(self.parts(node))


@attrs.frozen(kw_only=True)
class UncheckedArgs:
    """Arguments that nothing validates."""

    period_seconds: int = 15
    most: int = 1


@attrs.frozen(kw_only=True)
class UncheckedPeriodArgs:
    """Arguments whose period is not validated."""

    period_seconds: int = 15
    most: int = attrs.field(default=1, validator=integer(1))


class TicksAtZero(Feeds):
    """It reads the server without a pause, once the period is 0."""

    Args: ClassVar[type] = UncheckedPeriodArgs


class DividesByZero(Feeds):
    """It divides by the argument."""

    Args: ClassVar[type] = UncheckedArgs

    def arrive(self, load: int) -> None:
        self.load = load


class CountsForEver(DividesByZero):
    """It counts up to 100 in steps of the argument."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        count = 0
        while 0 <= count < 100:
            count += self.args.most
        return min(100, max(0, count))


class KeepsItsLimitOnItsClass(Feeds):
    limit: ClassVar[int]

    def __init__(self, args: FeedsArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        type(self).limit = args.most


class KeepsItsArgumentsInAGlobal(Feeds):
    def __init__(self, args: FeedsArgs, handle: Handle) -> None:
        global _args  # noqa: PLW0603 - the mistake
        super().__init__(args, handle)
        _args = args


class ScoresByLoad(Feeds):
    """Correct: prefers nodes without parts while the load is high."""

    scope = Scope.NODE
    pod_use = PodUse.NONE

    def arrive(self, load: int) -> None:
        """Receive the load, and report it if it is new."""
        self.report(load != self.load)
        super().arrive(load)

    def report(self, is_new: bool) -> None:
        """Report new data."""
        if is_new:
            self.handle.changed()

    @hookimpl
    def sign_pod(self) -> Hashable:
        return ""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return super().score(node) if self.load else 0


class ReportsTheFirstLoad(ScoresByLoad):
    is_reported = False

    def report(self, is_new: bool) -> None:
        super().report(is_new and not self.is_reported)
        self.is_reported = True


class ReportsHighLoads(ScoresByLoad):
    def report(self, is_new: bool) -> None:
        super().report(is_new and not self.load)


def _changing(feeds: Feeds) -> int:
    return int(feeds.handle.clock.now() // 60 % 2 == 0)


def stubbed(
    plugin: type[Feeds], fetch: Callable[[Feeds], int] = _changing
) -> type[Feeds]:
    """Return a class of a test, which reads no server."""
    members = {"fetch": fetch, "__module__": "stubs"}
    return type(f"Stubbed{plugin.__name__}", (plugin,), members)


OWN = clusters(
    nodes=nodes(*({"labels": {PARTS: parts}} for parts in ("a", "b", "a.b")))
)
FEED_MISTAKES: Sequence[Mistake] = (
    Mistake(stubbed(ScoresByLoad, lambda _feeds: 2), ["effects"], OWN),
    Mistake(stubbed(ReadsAgainTooSoonAfterAFailure, lambda _feeds: 2), ["timers"], OWN),
    *(
        Mistake(stubbed(plugin), [check], OWN)
        for plugin, check in (
            (ConnectsInStart, "timers"),
            (ReadsNoMoreAfterAFailure, "timers"),
            (ReadsAgainAtOnceAfterAFailure, "timers"),
            (RaisesInItsTask, "timers"),
            (ReadsAFileInFilter, "timers"),
            (ListsTheClusterInFilter, "timers"),
            (ScoresBelowZero, "score range"),
            (TicksAtZero, "arguments"),
            (DividesByZero, "arguments"),
            (CountsForEver, "arguments"),
            (KeepsItsLimitOnItsClass, "arguments"),
            (ReportsTheFirstLoad, "time"),
            (ReportsHighLoads, "time"),
            (KeepsItsArgumentsInAGlobal, "arguments"),
        )
    ),
)
