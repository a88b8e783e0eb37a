"""The changes of a record around the present one: just before, and just after."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from quaymaster._recording.state import Entry

__all__ = ["Moments"]

_MOST: Final = 32  # changes on either side
_SECONDS: Final = 1.0  # on either side


class Moments:
    """Goes through the changes of a record, and remembers a few.

    Args:
        entries: All of them.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = iter(entries)
        self._past: deque[Entry] = deque(maxlen=_MOST)
        self._coming: deque[Entry] = deque(islice(self._entries, _MOST + 1))

    def __iter__(self) -> Iterator[Entry]:
        """Each change, which is the present one until the next is asked for."""
        while self._coming:
            yield self._coming[0]
            self._past.append(self._coming.popleft())
            self._coming.extend(islice(self._entries, 1))

    def before(self, at: float) -> Sequence[Entry]:
        """The changes just before the present one, the latest first."""
        return [one for one in reversed(self._past) if one.at >= at - _SECONDS]

    def after(self, at: float) -> Sequence[Entry]:
        """The present change and those just after it, in their order."""
        return [one for one in self._coming if one.at <= at + _SECONDS]
