"""Detects streams with bytes but without events, and lists that do not end.

A quiet watch does not stall: the server sends nothing between its bookmarks, which come
about once a minute. A watch stalls if bytes arrive but no event does: a proxy holds
data back, or the stream is decoded wrongly.

client-go also warns of lists that do not end (k8s.io/client-go v0.37,
``tools/cache/reflector.go``: ``initialEventsEndBookmarkTicker``).
"""

from collections.abc import Callable
from typing import Final

__all__ = ["SECONDS_BETWEEN_CHECKS", "StreamProgress"]

SECONDS_BETWEEN_CHECKS: Final = 5.0
"""How often to call `StreamProgress.problem`."""

_SECONDS_WITHOUT_EVENT: Final = 30
_SECONDS_OF_LIST: Final = 30
_NO_EVENT: Final = (
    f"the watch has received bytes for {_SECONDS_WITHOUT_EVENT} seconds, but no event"
)
_NO_END: Final = (
    f"the watch has not marked the end of its list in {_SECONDS_OF_LIST} seconds"
)


class StreamProgress:
    """Tracks the progress of a stream of events.

    One thread reads the stream; any other thread may call `problem`.

    Args:
        now: Returns the seconds of a monotonic clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._bytes_since: float | None = None
        self._list_since: float | None = None

    def begin(self, *, is_list: bool) -> None:
        """Begin a new stream.

        Args:
            is_list: Whether it begins with a list.
        """
        self._bytes_since = None
        self._list_since = self._now() if is_list else None

    def received(self, now: float, *, has_event: bool, has_rest: bool) -> None:
        """Note that bytes have arrived and their events have been handled.

        Args:
            now: The time.
            has_event: Whether the bytes ended an event.
            has_rest: Whether they include the beginning of another event.
        """
        if has_event:
            self._bytes_since = now if has_rest else None
        elif self._bytes_since is None:
            self._bytes_since = now

    def listed(self) -> None:
        """Note that the list at the start of the stream has ended."""
        self._list_since = None

    def end(self) -> None:
        """Note that the stream has ended."""
        self._bytes_since = self._list_since = None

    def problem(self) -> str:
        """Return why the stream counts as stalled; empty if it does not."""
        now, bytes_since, list_since = self._now(), self._bytes_since, self._list_since
        if bytes_since is not None and now - bytes_since >= _SECONDS_WITHOUT_EVENT:
            return _NO_EVENT
        if list_since is not None and now - list_since >= _SECONDS_OF_LIST:
            return _NO_END
        return ""
