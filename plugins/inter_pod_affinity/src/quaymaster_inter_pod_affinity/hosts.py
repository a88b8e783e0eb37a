"""Scores by host name, kept from pod to pod.

A pod that comes to a node changes the sums of one host. So these are not added up and
scaled anew for every pod, but followed host by host.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from quaymaster.arrays import Int64Array
from quaymaster.counting import DomainCounts
from quaymaster_inter_pod_affinity.scale import scale, scale_one

__all__ = ["HostScores", "Part"]

Part: TypeAlias = tuple[int, DomainCounts]
"""A weight, and how many pods there are around each value that it counts for."""

_FEW_HOSTS: Final = 24


class HostScores:
    """The sums of weights on each host, and the scores that they come to.

    Args:
        parts: What they are made of; at least one, all with the same domains, whose
            numbers are those of the rows.
        count: How many rows there are.

    Attributes:
        sums: Shape ``(slots,)``, dtype int64; never write to it.
        scores: Shape ``(count,)``, dtype int64: from 0 to 100, if all rows are
            compared; never write to it.
        is_uniform: Whether all sums are the same.
    """

    __slots__ = (
        "_count",
        "_highest",
        "_lowest",
        "_numbers",
        "_parts",
        "_positions",
        "is_uniform",
        "scores",
        "sums",
    )

    def __init__(self, parts: Sequence[Part], count: int) -> None:
        self._parts = parts
        self._count = count
        self._positions = [counts.changes.position for _, counts in parts]
        self._recount()

    def refresh(self) -> None:
        """Follow the pods that came and went."""
        moved: set[int] = set()
        for index, (_, counts) in enumerate(self._parts):
            changes, position = counts.changes, self._positions[index]
            self._positions[index] = changes.position
            since = changes.since(position)
            if since is None or len(since) > _FEW_HOSTS:
                self._positions = [one.changes.position for _, one in self._parts]
                self._recount()
                return
            moved |= since
        for host in moved:
            self._move(host)

    def _recount(self) -> None:
        slots = self._parts[0][1].domains.slots
        self.sums: Int64Array = np.zeros(slots, dtype=np.int64)
        for weight, counts in self._parts:
            self.sums += counts.array() * weight
        values, numbers = np.unique(self.sums[: self._count], return_counts=True)
        # Sum -> how many hosts have it.
        self._numbers: dict[int, int] = dict(
            zip(values.tolist(), numbers.tolist(), strict=True)
        )
        self._rescale()

    def _move(self, host: int) -> None:
        before, after = self.sums.item(host), 0
        for weight, counts in self._parts:
            after += weight * counts.at(host)
        if before == after:
            return
        self.sums[host] = after
        numbers = self._numbers
        numbers[after] = numbers.get(after, 0) + 1
        numbers[before] -= 1
        if not numbers[before]:
            del numbers[before]
        lowest, highest = self._lowest, self._highest
        if lowest <= after <= highest and lowest in numbers and highest in numbers:
            if highest > lowest:
                self.scores[host] = scale_one(after - lowest, highest - lowest)
        else:
            self._rescale()

    def _rescale(self) -> None:
        self._lowest, self._highest = min(self._numbers), max(self._numbers)
        span = self._highest - self._lowest
        self.is_uniform = span == 0
        above = self.sums[: self._count] - self._lowest
        self.scores: Int64Array = scale(above, span)
