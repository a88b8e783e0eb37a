"""Calls that other threads post for the engine's thread."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

from quaymaster._base.callback_names import callback_name
from quaymaster._base.errors import EndlessLoopError
from quaymaster._core.contract.clock import Clock

__all__ = ["Inbox"]


T = TypeVar("T")

_LONGEST_CHAIN: Final = 10_000
"""Chosen, not measured: so many calls may post each other."""


class Inbox:
    """A queue of calls; any thread may `post`, and only the engine drains.

    The engine's thread is the one that creates the inbox, until another calls `adopt`.

    Args:
        is_virtual: Whether the engine has a virtual clock, so that calls that post each
            other for ever are an error. With a real clock, the engine goes on between
            them.

    Attributes:
        has_work: Whether there may be something to do; cleared by `drain`.
    """

    def __init__(self, *, is_virtual: bool = False) -> None:
        self._is_virtual = is_virtual
        self._calls: deque[Callable[[], None]] = deque()
        self.has_work = False
        self._is_waiting = False
        self._woken = threading.Event()
        self._thread = threading.get_ident()

    def adopt(self) -> None:
        """Make the calling thread the engine's."""
        self._thread = threading.get_ident()

    def is_own_thread(self) -> bool:
        """Whether the calling thread is the engine's."""
        return threading.get_ident() == self._thread

    def run_here(self, call: Callable[[], None]) -> None:
        """Make a call at once on the engine's thread; post it from any other thread."""
        if self.is_own_thread():
            call()
        else:
            self.post(call)

    def post(self, call: Callable[[], None]) -> None:
        """Queue a call for the engine's thread."""
        self._calls.append(call)
        self.notify()

    def ask(self, call: Callable[[], T]) -> Future[T]:
        """Queue a call for the engine's thread, and return a future of its result."""
        answer: Future[T] = Future()

        def run() -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                result = call()
            except Exception as error:
                answer.set_exception(error)
            else:
                answer.set_result(result)

        self.post(run)
        return answer

    def notify(self) -> None:
        """Wake the engine, because a call or something else has arrived."""
        # The order matters: `wait` sets `_is_waiting` first and then reads this flag.
        # The event is set only if the engine waits, because setting it takes a lock:
        # 16 calls per pod, and 41 instead of 39 us outside of SchedulingBasic's
        # decisions.
        self.has_work = True
        if self._is_waiting:
            self._woken.set()

    def wait(self, clock: Clock) -> bool:
        """Let time pass until something arrives or a timer is due.

        Returns:
            False when waiting is pointless, see `Clock.wait`.
        """
        self._woken.clear()
        self._is_waiting = True
        if self.has_work:
            self._woken.set()
        try:
            return clock.wait(self._woken)
        finally:
            self._is_waiting = False

    def drain(self) -> bool:
        """Run the posted calls; return whether there were any.

        Raises:
            EndlessLoopError: The clock is virtual, and calls post each other for ever.
        """
        self.has_work = False
        calls, chain, ran = self._calls, 0, False
        left = len(calls)
        while calls:
            if not left:
                # All that is left was posted by the calls before.
                left = len(calls)
                chain += 1
                if chain > _LONGEST_CHAIN:
                    self._interrupt(calls[0])
                    break
            left -= 1
            calls.popleft()()
            ran = True
        return ran

    def _interrupt(self, call: Callable[[], None]) -> None:
        """Leave the other calls to the next turn of the engine."""
        self.has_work = True
        if self._is_virtual:
            raise EndlessLoopError(
                f"virtual time stands still: {_LONGEST_CHAIN} calls in a row were each "
                f"posted by the call before, the last one is {callback_name(call)}: a "
                "plugin must not call handle.changed() or handle.activate() each time "
                "that it is called because of them"
            )
