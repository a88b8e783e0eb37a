"""Sets of indexes in the format of Jobs: numbers and ranges, such as ``0,3-5``.

Mirrors ``orderedIntervals`` of ``pkg/controller/job/indexed_job_utils.go``
(Kubernetes v1.37).
"""

from bisect import bisect_right

from quaymaster._api.objects.requirements import parse_int64

__all__ = ["IndexRanges", "parse_index"]


class IndexRanges:
    """A set of indexes, kept as ranges, since there may be very many.

    Args:
        text: The numbers and ranges; other parts are ignored.
        limit: Indexes from this one on are ignored, too.
    """

    __slots__ = ("_ends", "_size", "_starts")

    def __init__(self, text: str, limit: int) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        # Sorted and merged, since the text may come from another program. Upstream
        # relies on its own order.
        for start, stop in sorted(filter(None, map(_parse, text.split(",")))):
            end = min(stop, limit)
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            elif start < end:
                self._starts.append(start)
                self._ends.append(end)
        self._size = sum(self._ends) - sum(self._starts)

    def __len__(self) -> int:
        return self._size

    def __contains__(self, index: int) -> bool:
        return self.end_of(index) is not None

    def __str__(self) -> str:
        ranges = zip(self._starts, self._ends, strict=True)
        return ",".join(_text(start, end - 1) for start, end in ranges)

    def add(self, index: int) -> None:
        """Add an index; one that is in the set stays."""
        if index in self:
            return
        self._size += 1
        place = bisect_right(self._starts, index)
        joins_left = place > 0 and self._ends[place - 1] == index
        joins_right = place < len(self._starts) and self._starts[place] == index + 1
        if joins_left and joins_right:
            self._ends[place - 1] = self._ends.pop(place)
            self._starts.pop(place)
        elif joins_left:
            self._ends[place - 1] = index + 1
        elif joins_right:
            self._starts[place] = index
        else:
            self._starts.insert(place, index)
            self._ends.insert(place, index + 1)

    def end_of(self, index: int) -> int | None:
        """Return the first index after the range of an index; None if it is in none."""
        place = bisect_right(self._starts, index) - 1
        if place < 0 or index >= self._ends[place]:
            return None
        return self._ends[place]

    def count_in(self, other: "IndexRanges") -> int:
        """Return how many of these indexes are in another set, too."""
        common = left = right = 0
        while left < len(self._starts) and right < len(other._starts):
            start = max(self._starts[left], other._starts[right])
            end = min(self._ends[left], other._ends[right])
            common += max(0, end - start)
            # The range that ends first cannot overlap with anything further on, so only
            # it is left behind.
            if self._ends[left] == end:
                left += 1
            else:
                right += 1
        return common


def parse_index(text: str) -> int | None:
    """Read one index; None if the text is not an index."""
    # Signs and spaces make a text invalid here, although ``int`` accepts them.
    return parse_int64(text) if text.isdecimal() else None


def _text(first: int, last: int) -> str:
    if first == last:
        return str(first)
    # Two neighbours are written as ``3,4``, and only three or more as a range
    # (``orderedIntervals.String``).
    return f"{first}{',' if last == first + 1 else '-'}{last}"


def _parse(part: str) -> tuple[int, int] | None:
    """Return the first index of a part, and the one after its last."""
    first, dash, last = part.strip().partition("-")
    start = parse_index(first)
    end = parse_index(last) if dash else start
    return None if start is None or end is None else (start, end + 1)
