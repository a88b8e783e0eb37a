"""Runs calls on the engine's thread, with a timeout."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from quaymaster._base.errors import QuaymasterError

__all__ = ["EngineBusyError", "EngineIdleError", "EngineProbe"]

T = TypeVar("T")


class EngineBusyError(QuaymasterError):
    """The engine's thread has not responded in time."""


class EngineIdleError(QuaymasterError):
    """The engine has not started yet."""


class _Inbox(Protocol):
    """Takes calls for the engine's thread."""

    def ask(self, call: Callable[[], T], /) -> Future[T]: ...


class EngineProbe:
    """Runs calls on the engine's thread, from any other thread.

    Args:
        inbox: The engine's inbox.
        seconds: How long to wait for a result.
        is_at_work: Returns whether the engine has started; it has not in a replica that
            waits for the lease.
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
        """Run a call on the engine's thread, and return its result.

        Raises:
            EngineBusyError: The engine did not respond in time.
            EngineIdleError: The engine has not started yet.
        """
        if not self._is_at_work():
            raise EngineIdleError("this replica waits for the lease")
        answer = self._inbox.ask(question)
        try:
            return answer.result(self._seconds)
        except TimeoutError as error:
            answer.cancel()
            busy = f"the engine has not responded for {self._seconds:g} s"
            raise EngineBusyError(busy) from error

    def problem(self) -> str:
        """Return what is wrong with the engine; empty if it responds."""
        try:
            self.ask(lambda: None)
        except EngineIdleError:
            return ""
        except EngineBusyError as error:
            return str(error)
        return ""
