"""Go's sort, which is not stable: equal elements change places in a certain way.

Mirrors ``sort.Slice`` (Go 1.26, ``src/sort/zsortfunc.go``): up to 12 elements by
insertion, which is stable, and otherwise pattern-defeating quicksort.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

__all__ = ["sort_slice"]

T = TypeVar("T")

_INSERTION: Final = 12
_NINTHER: Final = 50
_MANY_SWAPS: Final = 12
_SHIFTED: Final = 50
_STEPS: Final = 5
_INCREASING: Final = "increasing"
_DECREASING: Final = "decreasing"
_UNKNOWN: Final = "unknown"
_WORD: Final = 2**64 - 1


def sort_slice(items: Iterable[T], key: Callable[[T], Any]) -> list[T]:
    """Return items by a key, equal ones in the order that Go's sort leaves them in."""
    listed = list(items)
    keys = [key(item) for item in listed]
    # An ordered list stays as it is, whatever its length.
    if len(listed) <= _INSERTION or all(
        not later < earlier for earlier, later in itertools.pairwise(keys)
    ):
        listed.sort(key=key)
        return listed
    sorting = _Sorting(keys)
    sorting.sort(0, len(keys), len(keys).bit_length())
    return [listed[place] for place in sorting.places]


class _Sorting:
    """Keys that are being sorted, and where each was at first."""

    def __init__(self, keys: list[Any]) -> None:
        self._keys = keys
        self.places = list(range(len(keys)))

    def _less(self, i: int, j: int) -> bool:
        return bool(self._keys[i] < self._keys[j])

    def _swap(self, i: int, j: int) -> None:
        keys, places = self._keys, self.places
        keys[i], keys[j] = keys[j], keys[i]
        places[i], places[j] = places[j], places[i]

    def sort(self, a: int, b: int, limit: int) -> None:  # as upstream
        """Sort the keys from a to b; after `limit` bad pivots, by a heap."""
        balanced = partitioned = True
        while True:
            length = b - a
            if length <= _INSERTION:
                self._insert(a, b)
                return
            if limit == 0:
                self._heap_sort(a, b)
                return
            if not balanced:
                self._break_patterns(a, b)
                limit -= 1
            pivot, hint = self._choose_pivot(a, b)
            if hint == _DECREASING:
                self._reverse(a, b)
                pivot = (b - 1) - (pivot - a)
                hint = _INCREASING
            ordered = balanced and partitioned and hint == _INCREASING
            if ordered and self._insert_a_few(a, b):
                return
            if a > 0 and not self._less(a - 1, pivot):
                a = self._partition_equal(a, b, pivot)
                continue
            middle, partitioned = self._partition(a, b, pivot)
            left, right = middle - a, b - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(a, middle, limit)
                a = middle + 1
            else:
                self.sort(middle + 1, b, limit)
                b = middle

    def _insert(self, a: int, b: int) -> None:
        keys = self._keys
        for i in range(a + 1, b):
            j = i
            while j > a and keys[j] < keys[j - 1]:
                self._swap(j, j - 1)
                j -= 1

    def _insert_a_few(self, a: int, b: int) -> bool:
        """Move a few elements; return whether all are in order then."""
        i = a + 1
        for _ in range(_STEPS):
            while i < b and not self._less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < _SHIFTED:
                return False
            self._swap(i, i - 1)
            if i - a >= 2:
                self._shift(range(i - 1, 0, -1))
            if b - i >= 2:
                self._shift(range(i + 1, b))
        return False

    def _shift(self, places: Iterable[int]) -> None:
        for j in places:
            if not self._less(j, j - 1):
                break
            self._swap(j, j - 1)

    def _partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Move smaller elements before the pivot; return its place."""
        self._swap(a, pivot)
        i, j = self._meet(a, a + 1, b - 1)
        if i > j:
            self._swap(j, a)
            return j, True
        while i <= j:
            self._swap(i, j)
            i, j = self._meet(a, i + 1, j - 1)
        self._swap(j, a)
        return j, False

    def _meet(self, a: int, i: int, j: int) -> tuple[int, int]:
        # Most comparisons are here: without calls, a sort takes 0.7 of the time.
        keys = self._keys
        pivot = keys[a]
        while i <= j and keys[i] < pivot:
            i += 1
        while i <= j and not keys[j] < pivot:
            j -= 1
        return i, j

    def _partition_equal(self, a: int, b: int, pivot: int) -> int:
        """Move elements equal to the pivot to the front; return where others begin."""
        self._swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self._less(a, i):
                i += 1
            while i <= j and self._less(a, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i += 1
            j -= 1

    def _choose_pivot(self, a: int, b: int) -> tuple[int, str]:
        length, swaps = b - a, 0
        quarter = length // 4
        i, j, k = a + quarter, a + 2 * quarter, a + 3 * quarter
        if length >= _NINTHER:
            i, swaps = self._median(i - 1, i, i + 1, swaps)
            j, swaps = self._median(j - 1, j, j + 1, swaps)
            k, swaps = self._median(k - 1, k, k + 1, swaps)
        j, swaps = self._median(i, j, k, swaps)
        hints = {0: _INCREASING, _MANY_SWAPS: _DECREASING}
        return j, hints.get(swaps, _UNKNOWN)

    def _median(self, a: int, b: int, c: int, swaps: int) -> tuple[int, int]:
        if self._less(b, a):
            a, b, swaps = b, a, swaps + 1
        if self._less(c, b):
            b, c, swaps = c, b, swaps + 1
        if self._less(b, a):
            a, b, swaps = b, a, swaps + 1
        return b, swaps

    def _reverse(self, a: int, b: int) -> None:
        i, j = a, b - 1
        while i < j:
            self._swap(i, j)
            i += 1
            j -= 1

    def _break_patterns(self, a: int, b: int) -> None:
        length = b - a
        mask = (1 << length.bit_length()) - 1
        # Go's xorshift begins with the length, so the order is repeatable in spite of
        # its name.
        random = length
        middle = a + (length // 4) * 2
        for place in (middle - 1, middle, middle + 1):
            random = (random ^ (random << 13)) & _WORD
            random ^= random >> 7
            random = (random ^ (random << 17)) & _WORD
            other = random & mask
            if other >= length:
                other -= length
            self._swap(place, a + other)

    def _heap_sort(self, a: int, b: int) -> None:
        count = b - a
        for root in range((count - 1) // 2, -1, -1):
            self._sift_down(root, count, a)
        for last in range(count - 1, -1, -1):
            self._swap(a, a + last)
            self._sift_down(0, last, a)

    def _sift_down(self, root: int, end: int, first: int) -> None:
        while True:
            child = 2 * root + 1
            if child >= end:
                return
            if child + 1 < end and self._less(first + child, first + child + 1):
                child += 1
            if not self._less(first + root, first + child):
                return
            self._swap(first + root, first + child)
            root = child
