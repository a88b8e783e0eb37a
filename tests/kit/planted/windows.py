"""A plugin that keeps maintenance windows free, and uses of real time in it."""

import asyncio
import threading
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Node,
    NodeInfo,
    PermitWait,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.cluster import ApiError
from quaymaster.testing import clusters, nodes
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "WINDOW_MISTAKES", "Windows"]

WINDOW = "example.com/maintenance-until"
CLOSED = Status.unresolvable("node(s) were in maintenance")
LOADED = int(time.time())


class Windows(Plugin):
    """Correct: rejects nodes before an hour of the day, by the handle's clock."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.load = 0

    @hookimpl
    def start(self) -> None:
        self.handle.run_in_background(self.fetch, self.learn)
        self.handle.clock.call_later(3600, self.start_hour, background=True)

    def fetch(self) -> int:
        """Read the load from a server, on a worker."""
        time.sleep(0)
        return int(time.monotonic()) * 0 + 50

    def learn(self, load: int) -> None:
        """Receive the load."""
        self.load = load
        self.handle.changed()

    def start_hour(self) -> None:
        """Try pods again: another hour has begun."""
        self.handle.changed()
        self.handle.clock.call_later(3600, self.start_hour, background=True)

    def hour(self) -> int:
        """Return the hour of the day."""
        return datetime.fromtimestamp(self.handle.clock.now(), UTC).hour

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        until = int(node.labels.get(WINDOW, "0"))
        return CLOSED if self.hour() < until else None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self.load if WINDOW in node.labels else 0

    @hookimpl
    def permit(self) -> PermitWait | None:
        return PermitWait(30) if self.hour() < 2 else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD | Change.UPDATE_NODE_LABEL)]


class ReadsTheWeekday(Windows):
    def hour(self) -> int:
        return 23 if date.today().weekday() > 4 else super().hour()


class ReadsTheLocalHour(Windows):
    def hour(self) -> int:
        return datetime.fromtimestamp(self.handle.clock.now()).hour


class ScoresByTheImport(Windows):
    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return LOADED // 3600 % 24


class FormatsTheTime(Windows):
    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return int(time.strftime("%j")) % 100


class StartsATimer(Windows):
    @hookimpl
    def permit(self) -> PermitWait | None:
        threading.Timer(0.001, self.start_hour).start()
        return PermitWait(30)


class FailsInATimer(Windows):
    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(30, self.start_hour, background=True)

    def start_hour(self) -> None:
        raise RuntimeError("no hour")


class CountsUntilACallFails(Windows):
    """Counts the nodes each minute, until the API server does not answer."""

    @hookimpl
    def start(self) -> None:
        self.handle.run_in_background(self.fetch, self.learn)

    def fetch(self) -> int:
        """Count the nodes, on a worker; return -1 after a failure."""
        try:
            return len(self.handle.cluster.list(Node).items)
        except ApiError:
            return -1

    def learn(self, load: int) -> None:
        """Receive the number of nodes."""
        if load >= 0:
            super().learn(load)
            self.handle.clock.call_later(60, self.start, background=True)


class SleepsBetweenTries(Windows):
    @hookimpl
    def permit(self) -> PermitWait | None:
        time.sleep(0.001)
        return super().permit()


class RunsALoop(Windows):
    @hookimpl
    def start(self) -> None:
        self.load = asyncio.run(self.ask())

    async def ask(self) -> int:
        """Read the load from a server."""
        return self.fetch()


class TakesItsTimeoutFromTheWallClock(Windows):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.deadline = time.monotonic() + 3600

    @hookimpl
    def permit(self) -> PermitWait | None:
        return None if time.monotonic() > self.deadline else super().permit()


class ExpiresByTheWallClock(Windows):
    @hookimpl
    def permit(self) -> PermitWait | None:
        if date.today().year > 2030:
            raise RuntimeError("the licence has expired")
        return super().permit()


OWN = clusters(nodes=nodes({"labels": {WINDOW: "6"}}, {"labels": {WINDOW: "0"}}))
WINDOW_MISTAKES: Sequence[Mistake] = (
    Mistake(ReadsTheWeekday, ["other process"], OWN),
    Mistake(ReadsTheLocalHour, ["other process"], OWN),
    Mistake(ScoresByTheImport, ["other process"], OWN),
    Mistake(FormatsTheTime, ["other process"], OWN),
    Mistake(ExpiresByTheWallClock, ["other process"], OWN),
    Mistake(ReadsTheWeekday, ["timers"], OWN),
    Mistake(StartsATimer, ["timers"], OWN),
    Mistake(FailsInATimer, ["timers"], OWN),
    Mistake(CountsUntilACallFails, ["timers"], OWN),
    Mistake(SleepsBetweenTries, ["timers"], OWN),
    Mistake(RunsALoop, ["timers"], OWN),
    Mistake(TakesItsTimeoutFromTheWallClock, ["timers"], OWN),
)
