"""Questions that threads have, and the one thread that answers them."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from quaymaster._extender_server.service import ExtenderService, ServiceError

__all__ = ["Questions"]

T = TypeVar("T")


class Questions:
    """A queue of calls, made one after the other on the thread that runs `serve`.

    Args:
        service: What the calls are about. Its timers and reloads get their turn between
            any two of them.
    """

    def __init__(self, service: ExtenderService) -> None:
        self._service = service
        self._waiting: deque[tuple[Callable[[], object], Future[object]]] = deque()
        self._is_over = False

    def ask(self, call: Callable[[], T]) -> Future[T]:
        """Have a call made; from any thread."""
        answer: Future[T] = Future()
        self._waiting.append((call, answer))  # type: ignore[arg-type]  # of its own call
        self._service.wake()
        if self._is_over:
            self._refuse()
        return answer

    def serve(self) -> None:
        """Answer until `stop` is called."""
        while not self._is_over:
            self._service.catch_up()
            if self._waiting:
                self._answer(*self._waiting.popleft())
            else:
                self._service.wait()

    def stop(self) -> None:
        """Answer no more, and let nobody wait in vain; from any thread."""
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
        except BaseException:  # somebody ends the whole
            answer.set_exception(_over())
            raise
        else:
            answer.set_result(result)

    def _refuse(self) -> None:
        while self._waiting:
            try:
                _, answer = self._waiting.popleft()
            except IndexError:  # somebody else was faster
                return
            if answer.set_running_or_notify_cancel():
                answer.set_exception(_over())


def _over() -> ServiceError:
    return ServiceError("the extender stops")
