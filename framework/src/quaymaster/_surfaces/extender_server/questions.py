"""Calls of many threads, which one thread runs."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from quaymaster._surfaces.extender_server.service import ExtenderService, ServiceError

__all__ = ["Questions"]

T = TypeVar("T")


class Questions:
    """A queue of calls, which run one after the other on the thread of `serve`.

    Args:
        service: The service that the calls use. Its timers and reloads run between the
            calls.
    """

    def __init__(self, service: ExtenderService) -> None:
        self._service = service
        self._waiting: deque[tuple[Callable[[], object], Future[object]]] = deque()
        self._is_over = False

    def ask(self, call: Callable[[], T]) -> Future[T]:
        """Queue a call; any thread may call it."""
        answer: Future[T] = Future()
        self._waiting.append((call, answer))  # type: ignore[arg-type]  # of its own call
        self._service.wake()
        # After the call was queued: either `stop` rejects it there, or it is rejected
        # here. Checked before, it could wait for ever.
        if self._is_over:
            self._refuse()
        return answer

    def serve(self) -> None:
        """Run calls until `stop` is called."""
        while not self._is_over:
            # Reloads and timers first, so that no answer comes from an older
            # configuration.
            self._service.catch_up()
            if self._waiting:
                self._answer(*self._waiting.popleft())
            else:
                self._service.wait()

    def stop(self) -> None:
        """Stop `serve`, and reject the waiting calls; any thread may call it."""
        self._is_over = True
        self._service.wake()
        self._refuse()

    def _answer(self, call: Callable[[], object], answer: Future[object]) -> None:
        if not answer.set_running_or_notify_cancel():
            return
        try:
            result = call()
        except Exception as error:
            answer.set_exception(error)
        except BaseException:  # something ends the process
            answer.set_exception(_over())
            raise
        else:
            answer.set_result(result)

    def _refuse(self) -> None:
        while self._waiting:
            try:
                _, answer = self._waiting.popleft()
            except IndexError:  # another thread was faster
                return
            if answer.set_running_or_notify_cancel():
                answer.set_exception(_over())


def _over() -> ServiceError:
    return ServiceError("the extender is stopping")
