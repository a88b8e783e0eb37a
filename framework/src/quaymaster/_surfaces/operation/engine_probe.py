"""Questions to the engine's thread, which are given up if it does not answer."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from quaymaster._base.errors import QuaymasterError

__all__ = ["EngineBusyError", "EngineIdleError", "EngineProbe"]

T = TypeVar("T")


class EngineBusyError(QuaymasterError):
    """The engine's thread has not answered in time."""


class EngineIdleError(QuaymasterError):
    """The engine is not at work yet."""


class _Inbox(Protocol):
    """Takes calls for the engine's thread."""

    def ask(self, call: Callable[[], T], /) -> Future[T]: ...


class EngineProbe:
    """Asks the engine's thread, from any other thread.

    Args:
        inbox: Takes the questions.
        seconds: How long to wait for an answer.
        is_at_work: Whether the engine takes turns at all; it does not in a replica
            that waits for the lease.
    """

    def __init__(
        self,
        inbox: _Inbox,
        seconds: float,
        is_at_work: Callable[[], bool] = lambda: True,
    ) -> None:
        self._is_at_work = is_at_work
        self._inbox = inbox
        self._seconds = seconds

    def ask(self, question: Callable[[], T]) -> T:
        """Have the engine's thread make a call, and return what comes of it.

        Raises:
            EngineBusyError: It did not get round to it.
            EngineIdleError: It is not at work yet.
        """
        if not self._is_at_work():
            raise EngineIdleError("this replica waits for the lease")
        answer = self._inbox.ask(question)
        try:
            return answer.result(self._seconds)
        except TimeoutError as error:
            answer.cancel()
            busy = f"the engine has not answered for {self._seconds:g} s"
            raise EngineBusyError(busy) from error

    def problem(self) -> str:
        """Say what is wrong with the engine; empty if it takes its turns."""
        try:
            self.ask(lambda: None)
        except EngineIdleError:
            return ""
        except EngineBusyError as error:
            return str(error)
        return ""
