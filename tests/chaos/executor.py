"""An executor whose calls and answers take their time, virtual time."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from quaymaster.clock import Clock
from tests.chaos.stage import CrashError

__all__ = ["SlowExecutor"]

T = TypeVar("T")


class SlowExecutor:
    """Runs tasks later, and hands over their results later still.

    Much can happen in between, as with workers that wait for a server; but it all
    happens on one thread, and in the order that the seed decides.

    Args:
        clock: Tells when.
        seed: Decides how long each task takes; half of them take no time at all.
    """

    def __init__(self, clock: Clock, seed: int) -> None:
        self._clock = clock
        self._random = random.Random(seed)
        self._waiting: dict[int, Callable[[], object]] = {}
        self._count = 0

    def submit(self, task: Callable[[], T], done: Callable[[T], None]) -> None:
        """Run ``task`` after a while, and ``done`` with its result later."""
        self._count += 1
        number = self._count
        self._waiting[number] = task
        self._after_a_while(lambda: self._run(number, task, done))

    def close(self) -> None:
        """Nothing to wait for: what is left is in the clock."""

    def crash(self) -> None:
        """The process ends: half of the calls are on their way, nobody hears more."""
        tasks, self._waiting = list(self._waiting.values()), {}
        for task in tasks:
            if self._random.random() < 0.5:
                with suppress(CrashError):
                    task()

    def _run(
        self, number: int, task: Callable[[], T], done: Callable[[T], None]
    ) -> None:
        del self._waiting[number]
        result = task()
        self._after_a_while(lambda: done(result))

    def _after_a_while(self, call: Callable[[], None]) -> None:
        if self._random.random() < 0.5:
            call()
        else:
            self._clock.call_later(self._random.uniform(0.0, 4.0), call)
