"""A plugin that reads a server which may fail, and mistakes after failures."""

import socket
from collections.abc import Mapping, Sequence

from quaymaster import Handle, NodeInfo, PodUse, Scope, hookimpl
from quaymaster.scheduler import Timer
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = [
    "GUST_MISTAKES",
    "CountsFailures",
    "ForgetsAfterFailures",
    "Gusts",
    "KeepsTheLastGusts",
    "read_by_a_test",
]

PERIOD, MAX_AGE, PAUSE = 15, 60, 40
MOST_FAILURES = 3


class Gusts(Plugin):
    """Correct: only data renew the timer of the age."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.gusts: Mapping[str, int] = {}
        self.expiry: Timer | None = None
        self.failures = 0

    @hookimpl
    def start(self) -> None:
        self.handle.run_in_background(self.fetch, self.arrive)

    def fetch(self) -> Mapping[str, int] | None:
        """Read the server."""
        try:
            with socket.create_connection(("gusts.invalid", 80), timeout=1):
                return {}
        except OSError:
            return None

    def arrive(self, gusts: Mapping[str, int] | None) -> None:
        """Receive the gusts."""
        self.handle.clock.call_later(PERIOD, self.start, background=True)
        if gusts is None:
            self.failures += 1
            self.fail()
        else:
            self.failures = 0
            self.renew()
            self.learn(gusts)

    def fail(self) -> None:
        """Do nothing: a timer forgets the data."""

    def cancel(self) -> None:
        """Cancel the timer of the age."""
        if self.expiry is not None:
            self.expiry.cancel()

    def renew(self) -> None:
        """Set the timer of the age again."""
        self.cancel()
        clock = self.handle.clock
        self.expiry = clock.call_later(MAX_AGE, self.forget, background=True)

    def forget(self) -> None:
        """Forget the gusts."""
        self.learn({})

    def learn(self, gusts: Mapping[str, int]) -> None:
        """Keep gusts, and report changes."""
        if gusts != self.gusts:
            self.gusts = gusts
            self.handle.changed()

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self.gusts.get(node.name, 0)


class KeepsTheLastGusts(Gusts):
    """Correct: its data have no age."""

    def renew(self) -> None:
        """Set no timer."""


class ForgetsAfterFailures(Gusts):
    """Correct: it forgets the data at once."""

    def fail(self) -> None:
        """Forget the gusts."""
        self.cancel()
        self.forget()


class CountsFailures(KeepsTheLastGusts):
    """Correct: it forgets the data after some failures, and has no timer."""

    def fail(self) -> None:
        """Forget the gusts after a while."""
        if self.failures >= MOST_FAILURES:
            self.forget()


class CancelsAfterFailures(Gusts):
    def fail(self) -> None:
        self.cancel()


class CancelsAfterTwoFailures(Gusts):
    def fail(self) -> None:
        if self.failures > 1:
            self.cancel()


class RenewsAfterFailures(Gusts):
    def fail(self) -> None:
        self.renew()


class LosesItsTimerAfterFailures(Gusts):
    def fail(self) -> None:
        self.expiry = None


class ForgetsLongAfterFailures(Gusts):
    def fail(self) -> None:
        self.handle.clock.call_later(PAUSE, self.forget, background=True)


def _changing(gusts: Gusts) -> Mapping[str, int]:
    is_odd = gusts.handle.clock.now() // 60 % 2
    return {"n0": 10, "n1": 60} if is_odd else {"n0": 80, "n1": 30}


def read_by_a_test(plugin: type[Gusts]) -> type[Gusts]:
    """Return a class of a test, which reads no server."""
    members = {"fetch": _changing, "__module__": "stubs"}
    return type(f"Stubbed{plugin.__name__}", (plugin,), members)


GUST_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(read_by_a_test(plugin), ["uptime"])
    for plugin in (
        CancelsAfterFailures,
        CancelsAfterTwoFailures,
        RenewsAfterFailures,
        LosesItsTimerAfterFailures,
        ForgetsLongAfterFailures,
    )
)
