"""The changes of a record just before and just after the current one."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from quaymaster._studies.recording.nearness import is_near
from quaymaster._studies.recording.state import Entry

__all__ = ["Moments", "Numbered"]

_MOST: Final = 256  # changes on either side

Numbered: TypeAlias = tuple[int, Entry]
"""The number of a change, from 0, and the change."""


class Moments:
    """Iterates over the changes of a record, and keeps a few around the current one.

    Args:
        entries: All changes.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = enumerate(entries)
        self._past: deque[Numbered] = deque(maxlen=_MOST)
        self._coming: deque[Numbered] = deque(islice(self._entries, _MOST + 1))

    def __iter__(self) -> Iterator[Numbered]:
        """Yield each change, which is the current one until the next is requested."""
        while self._coming:
            yield self._coming[0]
            self._past.append(self._coming.popleft())
            self._coming.extend(islice(self._entries, 1))

    def before(self) -> Sequence[Numbered]:
        """Return the changes just before the current one, the latest first."""
        present = self._coming[0][1]
        return [
            change for change in reversed(self._past) if is_near(change[1], present)
        ]

    def after(self) -> Sequence[Numbered]:
        """Return the current change and those just after it, in their order."""
        present = self._coming[0][1]
        return [change for change in self._coming if is_near(change[1], present)]
