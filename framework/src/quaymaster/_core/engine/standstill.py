"""Finds endless loops in virtual time.

With a real clock, a plugin that makes a pod active again and again only wastes time.
With a virtual clock, time passes when there is nothing left to do, so the same plugin
would stop a simulation for ever.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from quaymaster._api.objects.time import Time
from quaymaster._base.errors import EndlessLoopError
from quaymaster._core.contract.clock import Clock
from quaymaster._core.engine.attempts import Attempt, AttemptOutcome

__all__ = ["Standstill"]

_FEW_ATTEMPTS: Final = 1000
"""So many attempts at one moment are not counted for each pod."""

_FEW_TRIES: Final = 100
_TRIES_FOR_EACH_POD: Final = 2
"""A pod may be tried again each time that another one has been tried."""

_SHOWN: Final = 3
"""The failures that the error shows."""

_MOST_IDLE_TURNS: Final = 10_000
"""So many turns in a row at one moment may pass without an attempt."""


class Standstill:
    """Counts the attempts and turns of an engine at one moment of virtual time.

    Args:
        clock: The clock.
        last: Returns the last attempts; the error shows some that have failed.
    """

    def __init__(self, clock: Clock, last: Callable[[], Iterable[Attempt]]) -> None:
        self._clock = clock
        self._last = last
        self._moment = clock.now()
        self._attempts = 0
        self._idle_turns = 0
        self._tries: dict[str, int] = {}

    def note_attempt(self, key: str) -> None:
        """Note that a pod or a group is about to be tried.

        Raises:
            EndlessLoopError: It has been tried too often at this moment.
        """
        self._idle_turns = 0
        now = self._clock.now()
        if now != self._moment:
            self._begin(now)
        self._attempts += 1
        if self._attempts <= _FEW_ATTEMPTS:
            return
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        if tries > _FEW_TRIES + _TRIES_FOR_EACH_POD * len(self._tries):
            self._fail(
                f"'{key}' was tried more than {tries} times at this moment. Something "
                "makes it active again at once, such as Handle.activate(), "
                "Handle.changed() or WaitingPod.reject() after each attempt"
            )

    def note_idle_turn(self) -> None:
        """Note a turn that handled something, but tried no pod.

        Raises:
            EndlessLoopError: There were too many such turns at this moment.
        """
        now = self._clock.now()
        if now != self._moment:
            self._begin(now)
        self._idle_turns += 1
        if self._idle_turns > _MOST_IDLE_TURNS:
            self._fail(
                f"the cluster has changed {_MOST_IDLE_TURNS} times in a row at this "
                "moment, without an attempt for a pod. Something writes to the cluster "
                "each time that it changes, such as a callback of on_change"
            )

    def _begin(self, now: float) -> None:
        self._moment = now
        self._attempts = self._idle_turns = 0
        self._tries.clear()

    def _fail(self, text: str) -> None:
        shown = "".join(f"; {end}" for end in _failures(self._last()))
        raise EndlessLoopError(
            f"virtual time stands still at {Time(self._moment)}: {text}{shown}"
        )


def _failures(attempts: Iterable[Attempt]) -> Sequence[str]:
    """Return how the last attempts of some pods have failed, errors first."""
    failed = {attempt.pod: attempt for attempt in attempts if attempt.message}
    ordered = sorted(
        failed.values(), key=lambda each: each.outcome is not AttemptOutcome.ERROR
    )
    return [f"{each.pod} failed last: {each.message}" for each in ordered[:_SHOWN]]
