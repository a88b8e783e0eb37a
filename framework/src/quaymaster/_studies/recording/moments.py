"""The changes of a record around the present one: just before, and just after."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from quaymaster._studies.recording.nearness import is_near
from quaymaster._studies.recording.state import Entry

__all__ = ["Moments", "Numbered"]

_MOST: Final = 256  # changes on either side

Numbered: TypeAlias = tuple[int, Entry]
"""A change, and which of all it is, from 0 on."""


class Moments:
    """Goes through the changes of a record, and remembers a few.

    Args:
        entries: All of them.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = enumerate(entries)
        self._past: deque[Numbered] = deque(maxlen=_MOST)
        self._coming: deque[Numbered] = deque(islice(self._entries, _MOST + 1))

    def __iter__(self) -> Iterator[Numbered]:
        """Yield each change, which is the present one until the next is requested."""
        while self._coming:
            yield self._coming[0]
            self._past.append(self._coming.popleft())
            self._coming.extend(islice(self._entries, 1))

    def before(self) -> Sequence[Numbered]:
        """The changes just before the present one, the latest first."""
        present = self._coming[0][1]
        return [one for one in reversed(self._past) if is_near(one[1], present)]

    def after(self) -> Sequence[Numbered]:
        """The present change and those just after it, in their order."""
        present = self._coming[0][1]
        return [one for one in self._coming if is_near(one[1], present)]
