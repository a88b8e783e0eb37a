"""An executor whose calls and answers take virtual time, without blocking."""

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

from quaymaster._core.binding.executor import Post
from quaymaster._core.contract.clock import Clock, Timer

__all__ = ["SlowExecutor"]

T = TypeVar("T")


class SlowExecutor:
    """Runs tasks now or later, and returns their results now or later still.

    Everything else continues in between, as while workers wait for a server. But all
    steps run on one thread, in an order that depends on the delays.

    Args:
        clock: Runs the timers.
        post: Puts a call into the engine's inbox.
        call_delay: Returns the delay of the next task, in seconds.
        answer_delay: Returns the delay of the result of a task that has run.
    """

    def __init__(
        self,
        clock: Clock,
        post: Post,
        *,
        call_delay: Callable[[], float],
        answer_delay: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._post = post
        self._call_delay = call_delay
        self._answer_delay = answer_delay
        self._numbers = itertools.count()
        self._timers: dict[int, Timer] = {}
        self._calls: dict[int, Callable[[], object]] = {}

    def submit(
        self,
        task: Callable[[], T],
        done: Callable[[T], None],
        *,
        blocks: bool = True,  # noqa: ARG002 - all tasks run alike
    ) -> None:
        """Run ``task``, and then ``done`` with its result, each after its delay."""
        delay = self._call_delay()
        if delay == 0:
            self._run(task, done)
            return
        number = self._later(delay, lambda: self._run(task, done))
        self._calls[number] = task

    def close(self) -> None:
        """Do nothing: only timers of the clock are left."""

    def abandon(self) -> Sequence[Callable[[], object]]:
        """Drop all pending tasks and results, as when the scheduler's process ends.

        Returns:
            The tasks that have not begun, in the order of their submission. A server
            may have received some of these calls.
        """
        calls = list(self._calls.values())
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._calls.clear()
        return calls

    def _run(self, task: Callable[[], T], done: Callable[[T], None]) -> None:
        answer = task()
        delay = self._answer_delay()
        if delay == 0:
            done(answer)
        else:
            self._later(delay, lambda: self._post(lambda: done(answer)))

    def _later(self, delay: float, call: Callable[[], None]) -> int:
        number = next(self._numbers)

        def due() -> None:
            del self._timers[number]
            self._calls.pop(number, None)
            call()

        self._timers[number] = self._clock.call_later(delay, due)
        return number
