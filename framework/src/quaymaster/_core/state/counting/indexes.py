"""Indexes that find selectors by labels, and labels by a selector.

Most selectors require a value of some label. The keys of both indexes are such pairs of
key and value, so thousands of selectors with different values are never tried together.
Selectors that require no value are tried one by one.
"""

from collections.abc import Hashable, Iterator, Mapping
from itertools import chain
from typing import Generic, TypeVar

from quaymaster._api.objects.requirements import Operator, Requirement
from quaymaster._api.objects.selectors import Selector

__all__ = ["LabelIndex", "SelectorIndex"]

T = TypeVar("T", bound=Hashable)


class SelectorIndex(Generic[T]):
    """An index of items with a selector each, searched by labels."""

    __slots__ = ("_by_pair", "_others")

    def __init__(self) -> None:
        self._by_pair: dict[tuple[str, str], dict[T, None]] = {}
        self._others: dict[T, None] = {}

    def add(self, selector: Selector, item: T) -> None:
        """Add an item under its selector."""
        if selector.matches_nothing:
            return
        narrowest = _narrowest(selector)
        if narrowest is None:
            # Exists, NotIn and the like select by no pair of a label and a value, so
            # such selectors are always candidates.
            self._others[item] = None
            return
        for value in narrowest.values:
            self._by_pair.setdefault((narrowest.key, value), {})[item] = None

    def remove(self, selector: Selector, item: T) -> None:
        """Remove an item that was added under this selector."""
        narrowest = _narrowest(selector)
        if narrowest is None:
            self._others.pop(item, None)
            return
        for value in narrowest.values:
            _drop(self._by_pair, (narrowest.key, value), item)

    def candidates(self, labels: Mapping[str, str]) -> Iterator[T]:
        """Return the items whose selectors may match; all that match are included."""
        for pair in labels.items():
            yield from self._by_pair.get(pair, ())
        yield from self._others


class LabelIndex(Generic[T]):
    """An index of items with labels, searched by a selector."""

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
        narrowest = _narrowest(selector)
        if narrowest is None:
            return iter(self._all)
        pairs = ((narrowest.key, value) for value in narrowest.values)
        return chain.from_iterable(self._by_pair.get(pair, ()) for pair in pairs)


def _narrowest(selector: Selector) -> Requirement | None:
    """Return the requirement with the fewest values; None if none has values."""
    with_values = (r for r in selector.requirements if r.operator is Operator.IN)
    return min(with_values, key=lambda r: len(r.values), default=None)


def _drop(
    index: dict[tuple[str, str], dict[T, None]], pair: tuple[str, str], item: T
) -> None:
    items = index.get(pair)
    if items is not None:
        items.pop(item, None)
        if not items:
            del index[pair]
