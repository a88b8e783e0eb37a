"""A plugin that forgets data from outside when they are too old, and mistakes in it."""

from collections.abc import Mapping, Sequence

from quaymaster import Handle, NodeInfo, PodUse, Scope, hookimpl
from quaymaster.scheduler import Timer
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["FORECAST_MISTAKES", "ComparesAges", "Forecasts"]

PERIOD, MAX_AGE = 15, 60


class Forecasts(Plugin):
    """Correct: each reading restarts the timer of the age."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.winds: Mapping[str, int] = {}
        self.expiry: Timer | None = None

    @hookimpl
    def start(self) -> None:
        self.handle.run_in_background(self.fetch, self.arrive)

    def fetch(self) -> Mapping[str, int]:
        """Return other winds each minute."""
        is_odd = self.handle.clock.now() // 60 % 2
        return {"n0": 10, "n1": 60} if is_odd else {"n0": 80, "n1": 30}

    def arrive(self, winds: Mapping[str, int]) -> None:
        """Receive the winds."""
        self.handle.clock.call_later(PERIOD, self.start, background=True)
        self.renew(winds)
        self.learn(winds)

    def renew(self, winds: Mapping[str, int]) -> None:
        """Set the timer of the age."""
        if self.expiry is not None:
            self.expiry.cancel()
        self.expire_later()

    def expire_later(self) -> None:
        """Set a timer."""
        clock = self.handle.clock
        self.expiry = clock.call_later(MAX_AGE, self.forget, background=True)

    def forget(self) -> None:
        """Forget the winds."""
        self.learn({})

    def learn(self, winds: Mapping[str, int]) -> None:
        """Keep winds, and report changes."""
        if winds != self.winds:
            self.winds = winds
            self.handle.changed()

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self.winds.get(node.name, 0)


class ComparesAges(Forecasts):
    """Correct: old timers run, but they forget no data that arrived later."""

    arrived = 0.0

    def renew(self, winds: Mapping[str, int]) -> None:
        """Keep the time, and set the timer of the age."""
        self.arrived = self.handle.clock.now()
        self.expire_later()

    def forget(self) -> None:
        """Forget the winds if they are too old."""
        if self.handle.clock.now() >= self.arrived + MAX_AGE:
            super().forget()


class KeepsOldTimers(Forecasts):
    def renew(self, winds: Mapping[str, int]) -> None:
        self.expire_later()


class RenewsForNewWindsOnly(Forecasts):
    def renew(self, winds: Mapping[str, int]) -> None:
        if winds != self.winds:
            super().renew(winds)


class KeepsTimersOfOtherWinds(Forecasts):
    def renew(self, winds: Mapping[str, int]) -> None:
        if winds == self.winds:
            super().renew(winds)
        else:
            self.expire_later()


class SetsOneTimer(Forecasts):
    def renew(self, winds: Mapping[str, int]) -> None:
        if self.expiry is None:
            self.expire_later()

    def forget(self) -> None:
        self.expiry = None
        super().forget()


FORECAST_MISTAKES: Sequence[Mistake] = (
    Mistake(KeepsOldTimers, ["uptime"]),
    Mistake(RenewsForNewWindsOnly, ["uptime"]),
    Mistake(KeepsTimersOfOtherWinds, ["uptime"]),
    Mistake(SetsOneTimer, ["uptime"]),
)
