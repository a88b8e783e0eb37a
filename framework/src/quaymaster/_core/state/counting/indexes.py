"""Indexes that find selectors by labels, and labels by a selector.

Most selectors ask for a value of some label. Both indexes are keyed by such pairs of
key and value, so thousands of selectors with different values are never tried
together. Selectors that ask for no value are tried one by one.
"""

from collections.abc import Hashable, Iterator, Mapping
from itertools import chain
from typing import Generic, TypeVar

from quaymaster._api.objects.requirements import Operator, Requirement
from quaymaster._api.objects.selectors import Selector

__all__ = ["LabelIndex", "SelectorIndex"]

T = TypeVar("T", bound=Hashable)


class SelectorIndex(Generic[T]):
    """Items with a selector each, which are found by labels."""

    __slots__ = ("_by_pair", "_others")

    def __init__(self) -> None:
        self._by_pair: dict[tuple[str, str], dict[T, None]] = {}
        self._others: dict[T, None] = {}

    def add(self, selector: Selector, item: T) -> None:
        """Add an item under its selector."""
        if selector.matches_nothing:
            return
        wanted = _narrowest(selector)
        if wanted is None:
            self._others[item] = None
            return
        for value in wanted.values:
            self._by_pair.setdefault((wanted.key, value), {})[item] = None

    def remove(self, selector: Selector, item: T) -> None:
        """Remove an item that was added under this selector."""
        wanted = _narrowest(selector)
        if wanted is None:
            self._others.pop(item, None)
            return
        for value in wanted.values:
            _drop(self._by_pair, (wanted.key, value), item)

    def candidates(self, labels: Mapping[str, str]) -> Iterator[T]:
        """Return the items whose selectors may match; all that match are included."""
        for pair in labels.items():
            yield from self._by_pair.get(pair, ())
        yield from self._others


class LabelIndex(Generic[T]):
    """Items with labels, which are found by a selector."""

    __slots__ = ("_all", "_by_pair")

    def __init__(self) -> None:
        self._by_pair: dict[tuple[str, str], dict[T, None]] = {}
        self._all: dict[T, None] = {}

    def add(self, labels: Mapping[str, str], item: T) -> None:
        """Add an item under its labels."""
        self._all[item] = None
        for pair in labels.items():
            self._by_pair.setdefault(pair, {})[item] = None

    def remove(self, labels: Mapping[str, str], item: T) -> None:
        """Remove an item that was added under these labels."""
        self._all.pop(item, None)
        for pair in labels.items():
            _drop(self._by_pair, pair, item)

    def candidates(self, selector: Selector) -> Iterator[T]:
        """Return the items that a selector may match; all that match are included."""
        if selector.matches_nothing:
            return iter(())
        wanted = _narrowest(selector)
        if wanted is None:
            return iter(self._all)
        pairs = ((wanted.key, value) for value in wanted.values)
        return chain.from_iterable(self._by_pair.get(pair, ()) for pair in pairs)


def _narrowest(selector: Selector) -> Requirement | None:
    """Return the requirement with the fewest values, if any has values."""
    asking = (r for r in selector.requirements if r.operator is Operator.IN)
    return min(asking, key=lambda r: len(r.values), default=None)


def _drop(
    index: dict[tuple[str, str], dict[T, None]], pair: tuple[str, str], item: T
) -> None:
    items = index.get(pair)
    if items is not None:
        items.pop(item, None)
        if not items:
            del index[pair]
