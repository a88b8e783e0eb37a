"""Logs of changes: readers ask for the keys that have changed since a revision."""

from bisect import bisect_left
from collections.abc import Collection, Hashable
from itertools import count
from typing import Final, Generic, TypeVar

__all__ = ["MOST_KEPT", "ChangeLog"]

K = TypeVar("K", bound=Hashable)

# A bound on memory: at most twice as many are stored, in 8 bytes each.
MOST_KEPT: Final = 1 << 16


class ChangeLog(Generic[K]):
    """The keys of added, changed and removed objects, in order.

    A reader stores a `revision`, and later gets the changes `since`. Only the last
    changes are kept, so a reader that comes too late has to read everything again.

    Args:
        limit: The minimum number of changes to keep.

    Attributes:
        revision: The number of changes so far.
    """

    __slots__ = ("_arrivals", "_keys", "_most", "revision")

    _keys: list[K]

    def __init__(self, limit: int = MOST_KEPT) -> None:
        self.revision = 0
        self._keys = []
        # The revisions before each change that added an object, ascending.
        self._arrivals: list[int] = []
        self._most = 2 * limit

    def since(self, revision: int) -> Collection[K] | None:
        """Return the keys of all changes after an earlier `revision`, each once.

        They are in the order of their first change. The keys of new objects are in the
        order of their arrival.

        Args:
            revision: The earlier revision; one below 0 is always too old.

        Returns:
            The keys; None if the revision is too old, and everything may have changed.
        """
        missed = self.revision - revision
        if not missed:
            return frozenset()
        if missed > len(self._keys):
            return None
        keys, arrivals = self._keys[-missed:], self._arrivals
        if not arrivals or arrivals[-1] < revision:
            return dict.fromkeys(keys).keys()
        new = set(arrivals[bisect_left(arrivals, revision) :])
        changed: dict[K, None] = {}
        for at, key in zip(count(revision), keys, strict=False):
            # The object was deleted and has come back. As in the list of informers, it
            # is behind those that changed before.
            if at in new:
                changed.pop(key, None)
            changed[key] = None
        return changed.keys()

    def note(self, key: K, *, is_new: bool = False) -> None:
        """Log that an object was added, changed or removed.

        Args:
            key: Its key.
            is_new: Whether it was added, and its place in the order matters.
        """
        if is_new:
            self._arrivals.append(self.revision)
        self.revision += 1
        keys = self._keys
        keys.append(key)
        if len(keys) > self._most:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        # Half at once, so that the cost of moving the rest is spread over as many
        # notes.
        del self._keys[: self._most // 2]
        first = self.revision - len(self._keys)
        del self._arrivals[: bisect_left(self._arrivals, first)]
