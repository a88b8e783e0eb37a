"""The log of changes of a table's rows, with the last change of each row."""

from collections.abc import Collection
from typing import Final

import numpy as np

from quaymaster._core.state.arrays import Int64Array, RowArray
from quaymaster._core.state.change_log import MOST_KEPT, ChangeLog

__all__ = ["FEW_ROWS", "RowLog"]

# Up to this many changes are written one by one: each takes 0.1 us, an array of them
# 3 us. In most cases they are two, of a pod that was assumed and bound.
_FEW: Final = 24


# Up to this many changed rows are filtered one by one, more of them in arrays. With 0,
# a decision of ScalingKinds10 (10 rows) takes 1.8 times as long, with 96 it takes 1.04
# times as long; one of ScalingKinds100 (100 rows) 1.05 with 6, and 1.4 with 48.
FEW_ROWS: Final = 24

# A bound on the notes to read for few rows. A pod notes its row twice, when it is
# assumed and when it is bound; with more notes per row, few rows may count as many.
_MOST_NOTES: Final = 4 * FEW_ROWS


class RowLog(ChangeLog[int]):
    """The rows of nodes that were added, changed and removed.

    Besides the order of the changes, as in every log, an array keeps the revision of
    each row's last change: comparing 5,000 of them takes a twentieth of the time of a
    set of a thousand rows. The array is updated when it is read, so readers of few
    changes pay nothing for it.

    Args:
        limit: As for `ChangeLog`.
    """

    __slots__ = (
        "_answer",
        "_cached_from",
        "_cached_to",
        "_few",
        "_few_from",
        "_few_to",
        "_last",
        "_seen",
        "_used",
    )

    def __init__(self, limit: int = MOST_KEPT) -> None:
        super().__init__(limit)
        self._last: Int64Array = np.zeros(0, dtype=np.int64)
        self._used = 0
        self._seen = 0
        self._cached_from = self._cached_to = -1
        self._answer: RowArray | None = None
        self._few_from = self._few_to = -1
        self._few: Collection[int] | None = None

    def rows_since(self, revision: int) -> RowArray | None:
        """Return the rows that changed after an earlier `revision`, ascending.

        Args:
            revision: The earlier revision; one below 0 is always too old.

        Returns:
            Shape ``(N,)``; None if the revision is too old, and everything may have
            changed. Do not write to it: all callers get the same array.
        """
        if revision < 0 or self.revision - revision > len(self._keys):
            return None
        if revision != self._cached_from or self.revision != self._cached_to:
            self._catch_up()
            self._cached_from, self._cached_to = revision, self.revision
            self._answer = (self._last[: self._used] > revision).nonzero()[0]
        return self._answer

    def few_since(self, revision: int) -> Collection[int] | None:
        """Return the rows that changed after an earlier `revision`, if they are few.

        Args:
            revision: The earlier revision; one below 0 is always too old.

        Returns:
            The rows, in the order of their first change; None if they are, or may be,
            more than `FEW_ROWS`, or if the revision is too old. All callers get the
            same object.
        """
        last = self.revision
        if revision == self._few_from and last == self._few_to:
            return self._few
        self._few_from, self._few_to = revision, last
        keys, missed = self._keys, last - revision
        few: Collection[int] | None = None
        if missed <= _MOST_NOTES and missed <= len(keys) and revision >= 0:
            few = dict.fromkeys(keys[len(keys) - missed :])
            if len(few) > FEW_ROWS:
                few = None
        self._few = few
        return few

    def _catch_up(self) -> None:
        """Write the changes since the last read to the array."""
        missed = min(self.revision - self._seen, len(self._keys))
        revision = self._seen = self.revision
        rows = self._keys[len(self._keys) - missed :]
        if not rows:
            return
        most = max(rows)
        if most >= len(self._last):
            grown: Int64Array = np.zeros(2 * most + 1, dtype=np.int64)
            grown[: len(self._last)] = self._last
            self._last = grown
        self._used = max(self._used, most + 1)
        last = self._last
        if missed <= _FEW:
            for at, row in enumerate(rows, revision - missed + 1):
                last[row] = at
            return
        # If a row changed twice, the later assignment wins.
        numbers = np.array(rows, dtype=np.intp)
        last[numbers] = np.arange(revision - missed + 1, revision + 1, dtype=np.int64)
