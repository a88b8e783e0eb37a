"""Sets of indexes in the format of Jobs: numbers and ranges, such as ``0,3-5``."""

from bisect import bisect_right

from quaymaster._api.objects.requirements import parse_int64

__all__ = ["IndexRanges", "parse_index"]


class IndexRanges:
    """A set of indexes, kept as ranges, since there may be very many.

    Args:
        text: The numbers and ranges; other parts are ignored.
        limit: Indexes from this one on are ignored, too.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, text: str, limit: int) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, stop in sorted(filter(None, map(_parse, text.split(",")))):
            end = min(stop, limit)
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            elif start < end:
                self._starts.append(start)
                self._ends.append(end)

    def __len__(self) -> int:
        return sum(self._ends) - sum(self._starts)

    def __contains__(self, index: int) -> bool:
        return self.end_of(index) is not None

    def end_of(self, index: int) -> int | None:
        """Return the first index after the range of an index; None if it is in none."""
        place = bisect_right(self._starts, index) - 1
        if place < 0 or index >= self._ends[place]:
            return None
        return self._ends[place]


def parse_index(text: str) -> int | None:
    """Read one index; None if the text is not an index."""
    return parse_int64(text) if text.isdecimal() else None


def _parse(part: str) -> tuple[int, int] | None:
    """Return the first index of a part, and the one after its last."""
    first, dash, last = part.strip().partition("-")
    start = parse_index(first)
    end = parse_index(last) if dash else start
    return None if start is None or end is None else (start, end + 1)
