"""Verdicts and scores by host name, updated from pod to pod.

A pod that is added to a node changes the verdict and the score of one host. So they
are updated host by host instead of computed again for every pod.
"""

from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from quaymaster import Int64Array, Rows
from quaymaster.columns import constant, freeze
from quaymaster.counting import DomainCounts
from quaymaster_inter_pod_affinity.scale import scale, scale_one

__all__ = ["HostScores", "HostVerdicts", "Part"]

Part: TypeAlias = tuple[int, DomainCounts]
"""A weight, and the number of matching pods around each value."""

# Up to this many hosts are updated one by one. Compared with adding up 5,000 hosts,
# that takes 0.4 of the time for one host, 1.0 for 24 and 2.4 for 96. With 0, a decision
# of SchedulingPreferredPodAffinity takes 1.4 times as long.
_FEW_HOSTS: Final = 24

# Sums within this span are counted, others are sorted. Compared with sorting, counting
# 5,000 sums takes 0.4 of the time within a span of 50, 0.8 within 4,096, 1.0 within
# 16,384 and 7 times as long within a million. It is done for a pod whose feasible nodes
# differ from those of the pod before.
_FEW_SUMS: Final = 1 << 12


class _Followed:
    """Finds the hosts whose counts have changed since the last call.

    Args:
        counts: The counts.
    """

    __slots__ = ("_counts", "_revisions")

    def __init__(self, counts: Sequence[DomainCounts]) -> None:
        self._counts = counts
        self._revisions = [pod_counts.changes.revision for pod_counts in counts]

    def moved(self) -> Collection[int] | None:
        """Return the hosts whose counts have changed, or None if there are many."""
        moved: set[int] | None = set()
        for index, counts in enumerate(self._counts):
            changes, revision = counts.changes, self._revisions[index]
            self._revisions[index] = changes.revision
            since = changes.since(revision)
            if moved is None or since is None or len(since) > _FEW_HOSTS:
                moved = None
            else:
                moved.update(since)
        return moved


class HostVerdicts:
    """Maintains a code for each host: the reason why the pods there reject the pod.

    Args:
        groups: Codes, and the pods whose hosts get them, the highest code last. All
            have the same domains, whose numbers are row numbers.
    """

    __slots__ = ("_codes", "_followed", "_groups")

    def __init__(self, groups: Sequence[tuple[int, DomainCounts]]) -> None:
        self._groups = groups
        self._followed = _Followed([counts for _, counts in groups])
        self._codes = self._all()

    def codes(self, rows: Rows) -> npt.NDArray[np.uint8]:
        """Return the highest code of each row, or 0; the array is never modified."""
        moved = self._followed.moved()
        if moved is None:
            self._codes = self._all()
        elif moved:
            # Callers may still use arrays that were returned before.
            self._codes = self._codes.copy()
            for host in moved:
                self._codes[host] = self._code(host)
        return self._codes[rows]

    def _all(self) -> npt.NDArray[np.uint8]:
        codes: npt.NDArray[np.uint8] = np.zeros(
            self._groups[0][1].domains.slots, dtype=np.uint8
        )
        # In ascending order of the codes, so that the last one written is the highest.
        for code, counts in self._groups:
            codes[counts.array() > 0] = code
        return codes

    def _code(self, host: int) -> int:
        bits = 0
        for code, counts in self._groups:
            if counts.at(host) > 0:
                bits = code
        return bits


class HostScores:
    """Maintains the sum of weights on each host, and the scores of these sums.

    Args:
        parts: The weighted counts; at least one. All have the same domains, whose
            numbers are row numbers.

    Attributes:
        sums: Shape ``(slots,)``, dtype int64; never write to it.
    """

    __slots__ = (
        "_followed",
        "_given",
        "_highest",
        "_lowest",
        "_numbers",
        "_parts",
        "_raw",
        "_rows",
        "_scores",
        "_unscaled",
        "sums",
    )

    sums: Int64Array
    _raw: Int64Array

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._followed = _Followed([counts for _, counts in parts])
        self._rows: Rows | None = None
        # The last result of `raw`, or None if it is outdated.
        self._given: Int64Array | None = None
        # The scores of the rows, or None, and the positions where they are outdated.
        self._scores: Int64Array | None = None
        self._unscaled: list[int] = []
        self._add_up()

    def refresh(self) -> None:
        """Update the sums of the hosts whose pods have changed."""
        moved = self._followed.moved()
        if moved is None:
            self._rows = self._given = None
            self._add_up()
        elif moved:
            self._begin_anew()
            for host in moved:
                self._move(host)

    def raw(self, rows: Rows) -> Int64Array:
        """Return the sums on some rows, shape ``(N,)``, frozen.

        Args:
            rows: The rows. If they are the same as before, only the hosts whose pods
                have changed are updated.
        """
        if not self._is_cached(rows):
            self._look_at(rows)
        if self._lowest == self._highest:
            return constant(self._lowest, len(self._raw))
        if self._given is None:
            self._given = freeze(self._raw.view())
        return self._given

    def scores(self, raw: Int64Array) -> Int64Array | None:
        """Return the scores of the rows, from 0 to 100.

        Args:
            raw: The result of `raw`; for another array, None is returned.
        """
        # Identity: frozen scores of `score_nodes` come back as the same object.
        if raw is not self._given:
            return None
        lowest, span = self._lowest, self._highest - self._lowest
        if self._scores is None:
            self._scores = scale(self._raw - lowest if lowest else self._raw, span)
        elif self._unscaled:
            self._scores = self._scores.copy()
            for index in self._unscaled:
                self._scores[index] = scale_one(self._raw.item(index) - lowest, span)
        self._unscaled.clear()
        return freeze(self._scores.view())

    def _is_cached(self, rows: Rows) -> bool:
        cached = self._rows
        if isinstance(rows, slice):
            return isinstance(cached, slice) and rows == cached
        # Identity: arrays of rows are never modified, and a filter returns the same
        # array as long as the same nodes pass.
        return rows is cached

    def _add_up(self) -> None:
        slots = self._parts[0][1].domains.slots
        self.sums = np.zeros(slots, dtype=np.int64)
        for weight, counts in self._parts:
            self.sums += counts.array() * weight

    def _begin_anew(self) -> None:
        """Copy an array that was returned, and is frozen, before it is modified."""
        if self._rows is None:
            return
        self._given = None
        if isinstance(self._rows, slice):
            self.sums = self.sums.copy()
            # A view: `_move` writes both at once.
            self._raw = self.sums[self._rows]
        else:
            self._raw = self._raw.copy()

    def _look_at(self, rows: Rows) -> None:
        self._rows, self._given = rows, None
        self._raw = self.sums[rows] if isinstance(rows, slice) else self.sums.take(rows)
        # Sum -> how many of the rows have it.
        self._numbers: dict[int, int] = _numbers_of(self._raw)
        self._find_range()

    def _move(self, host: int) -> None:
        before, after = self.sums.item(host), 0
        for weight, counts in self._parts:
            after += weight * counts.at(host)
        if before == after:
            return
        self.sums[host] = after
        index = self._index(host)
        if index is None:
            return
        self._raw[index] = after
        numbers = self._numbers
        numbers[after] = numbers.get(after, 0) + 1
        numbers[before] -= 1
        if not numbers[before]:
            del numbers[before]
        lowest, highest = self._lowest, self._highest
        # Unless the range has changed, all other scores stay. Otherwise all are scaled
        # again.
        if lowest <= after <= highest and lowest in numbers and highest in numbers:
            if self._scores is not None:
                self._unscaled.append(index)
        else:
            self._find_range()

    def _index(self, host: int) -> int | None:
        """Return the position of a host among the rows, or None."""
        rows = self._rows
        if rows is None:
            return None
        if isinstance(rows, slice):
            return host - rows.start if rows.start <= host < rows.stop else None
        index = int(rows.searchsorted(host))
        return index if index < len(rows) and rows[index] == host else None

    def _find_range(self) -> None:
        self._lowest, self._highest = min(self._numbers), max(self._numbers)
        self._scores = None
        self._unscaled.clear()


def _numbers_of(values: Int64Array) -> dict[int, int]:
    """Count how often each value occurs."""
    lowest = int(values[values.argmin()])
    if int(values[values.argmax()]) - lowest > _FEW_SUMS:
        distinct, numbers = np.unique(values, return_counts=True)
    else:
        counted = np.bincount(values - lowest)
        distinct = counted.nonzero()[0]
        numbers, distinct = counted[distinct], distinct + lowest
    return dict(zip(distinct.tolist(), numbers.tolist(), strict=True))
