"""Verdicts and scores by host name, updated from pod to pod.

A pod that comes to a node changes what is said of one host. So this is not worked out
anew for every pod, but followed host by host.
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
"""A weight, and how many pods there are around each value that it counts for."""

# Up to this many hosts are followed one by one. That takes 0.4 of the time of adding up
# 5,000 hosts anew for one of them, 1.0 for 24 and 2.4 for 96. With 0, a decision of
# SchedulingPreferredPodAffinity takes 1.4 times as long.
_FEW_HOSTS: Final = 24

# Sums that lie this close together are counted, others are sorted. To count 5,000 takes
# 0.4 of the time of sorting them within 50, 0.8 within 4,096, 1.0 within 16,384 and 7
# times as long within a million. It is done for a pod whose nodes are not those of the
# pod before.
_FEW_SUMS: Final = 1 << 12


class _Followed:
    """Finds the hosts whose counts have changed since it was asked last.

    Args:
        counts: The counts.
    """

    __slots__ = ("_counts", "_revisions")

    def __init__(self, counts: Sequence[DomainCounts]) -> None:
        self._counts = counts
        self._revisions = [one.changes.revision for one in counts]

    def moved(self) -> Collection[int] | None:
        """Return the hosts whose counts have changed; None for many."""
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
    """Keeps a code for each host: which pods there forbid the pod to come.

    Args:
        groups: Codes, and the pods that have them said of their hosts, the highest
            code last; all with the same domains, whose numbers are those of the rows.
    """

    __slots__ = ("_codes", "_followed", "_groups")

    def __init__(self, groups: Sequence[tuple[int, DomainCounts]]) -> None:
        self._groups = groups
        self._followed = _Followed([counts for _, counts in groups])
        self._codes = self._all()

    def codes(self, rows: Rows) -> npt.NDArray[np.uint8]:
        """Return the highest code of each row, 0 without any; it never changes."""
        moved = self._followed.moved()
        if moved is None:
            self._codes = self._all()
        elif moved:
            # Somebody may still look at those that were given before.
            self._codes = self._codes.copy()
            for host in moved:
                self._codes[host] = self._code(host)
        return self._codes[rows]

    def _all(self) -> npt.NDArray[np.uint8]:
        codes: npt.NDArray[np.uint8] = np.zeros(
            self._groups[0][1].domains.slots, dtype=np.uint8
        )
        for code, counts in self._groups:
            codes[counts.array() > 0] = code
        return codes

    def _code(self, host: int) -> int:
        found = 0
        for code, counts in self._groups:
            if counts.at(host) > 0:
                found = code
        return found


class HostScores:
    """Keeps the sum of weights on each host, and the scores of these sums.

    Args:
        parts: What they are made of; at least one, all with the same domains, whose
            numbers are those of the rows.

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
        # What `raw` gave last, or None if that is out of date.
        self._given: Int64Array | None = None
        # The scores of the rows, or None, and where they are out of date.
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
            rows: The rows. For the same ones as before, only the hosts whose pods
                have changed since are looked at.
        """
        if not self._knows(rows):
            self._look_at(rows)
        if self._lowest == self._highest:
            return constant(self._lowest, len(self._raw))
        if self._given is None:
            self._given = freeze(self._raw.view())
        return self._given

    def scores(self, raw: Int64Array) -> Int64Array | None:
        """Return the scores of the rows, from 0 to 100.

        Args:
            raw: What `raw` gave; None is returned for anything else.
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

    def _knows(self, rows: Rows) -> bool:
        known = self._rows
        if isinstance(rows, slice):
            return isinstance(known, slice) and rows == known
        # Identity: an array of rows never changes, and a filter that goes on letting
        # the same nodes pass goes on giving the same one.
        return rows is known

    def _add_up(self) -> None:
        slots = self._parts[0][1].domains.slots
        self.sums = np.zeros(slots, dtype=np.int64)
        for weight, counts in self._parts:
            self.sums += counts.array() * weight

    def _begin_anew(self) -> None:
        """Copy what was handed out, which is frozen, before it changes."""
        if self._rows is None:
            return
        self._given = None
        if isinstance(self._rows, slice):
            self.sums = self.sums.copy()
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
        found, numbers = np.unique(values, return_counts=True)
    else:
        counted = np.bincount(values - lowest)
        found = counted.nonzero()[0]
        numbers, found = counted[found], found + lowest
    return dict(zip(found.tolist(), numbers.tolist(), strict=True))
