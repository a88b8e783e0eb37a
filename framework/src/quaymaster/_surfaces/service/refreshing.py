"""Makes what answers anew: when told to, and every so often."""

from collections.abc import Callable
from typing import Generic, TypeVar

from msgspec.structs import replace

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.clock import Clock
from quaymaster._surfaces.service.readiness import SharedReadiness

__all__ = ["Refresher"]

T = TypeVar("T")


class Refresher(Generic[T]):
    """Makes something from an input that changes; what is there stays until it is made.

    Args:
        make: Makes it from the input as it is then.
        take_over: Is given each one that was made.
        clock: Its timers say when to make it again.
        seconds: How long after the last attempt to make it again; 0 for never.
        readiness: Where it is noted how that went.
        on_trouble: Told what went wrong.
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
        self._standing = readiness
        self._on_trouble = on_trouble

    def start(self) -> None:
        """Make the first; what goes wrong then is the caller's."""
        now = self._clock.now()
        made = self._make()
        self._standing.write(replace(self._standing.read(), read_at=now))
        self._take_over(made)
        self._wait()

    def refresh(self) -> bool:
        """Make another one; say whether that went well."""
        now, before = self._clock.now(), self._standing.read()
        try:
            made = self._make()
        except Exception as error:  # whatever it is, the old one goes on answering
            text = _told(error)
            failures = before.failures + 1
            self._standing.write(replace(before, failures=failures, error=text))
            self._on_trouble(f"not refreshed, the old input stays: {text}")
            return False
        self._standing.write(
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


def _told(error: Exception) -> str:
    known = isinstance(error, QuaymasterError)
    return str(error) if known else f"{type(error).__name__}: {error}"
