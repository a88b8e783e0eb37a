"""Rebuilds the application on request and at intervals."""

from collections.abc import Callable
from typing import Generic, TypeVar

from msgspec.structs import replace

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.clock import Clock
from quaymaster._surfaces.service.readiness import SharedReadiness

__all__ = ["Refresher"]

T = TypeVar("T")


class Refresher(Generic[T]):
    """Rebuilds an object from an input; the old one stays in use until then.

    Args:
        make: Builds the object from the current input.
        take_over: Receives each new object.
        clock: Its timers start the next rebuild.
        seconds: The interval after the last attempt; 0 for no timer.
        readiness: Receives the result of each attempt.
        on_trouble: Receives the error of a failed attempt.
    """

    def __init__(
        self,
        make: Callable[[], T],
        take_over: Callable[[T], None],
        *,
        clock: Clock,
        readiness: SharedReadiness,
        seconds: float = 0.0,
        on_trouble: Callable[[str], None] = print,
    ) -> None:
        self._make = make
        self._take_over = take_over
        self._clock = clock
        self._seconds = seconds
        self._readiness = readiness
        self._on_trouble = on_trouble

    def start(self) -> None:
        """Build the first object; errors are raised."""
        now = self._clock.now()
        made = self._make()
        self._readiness.write(replace(self._readiness.read(), read_at=now))
        self._take_over(made)
        self._wait()

    def refresh(self) -> bool:
        """Build a new object; return whether that succeeded."""
        now, before = self._clock.now(), self._readiness.read()
        try:
            made = self._make()
        except Exception as error:  # the old application stays in use
            text = _message_of(error)
            failures = before.failures + 1
            self._readiness.write(replace(before, failures=failures, error=text))
            self._on_trouble(f"not refreshed, the old input stays: {text}")
            return False
        self._readiness.write(
            replace(
                before,
                read_at=now,
                refreshes=before.refreshes + 1,
                failures=0,
                error="",
            )
        )
        self._take_over(made)
        return True

    def _wait(self) -> None:
        if self._seconds:
            self._clock.call_later(self._seconds, self._refresh_and_wait)

    def _refresh_and_wait(self) -> None:
        try:
            self.refresh()
        finally:
            self._wait()


def _message_of(error: Exception) -> str:
    is_expected = isinstance(error, QuaymasterError)
    return str(error) if is_expected else f"{type(error).__name__}: {error}"
