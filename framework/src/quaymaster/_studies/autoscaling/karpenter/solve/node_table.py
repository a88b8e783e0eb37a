"""Which of many nodes could take a pod, found for all of them at once.

A table keeps the labels, taints and free resources of nodes as columns. What it rules
out is surely impossible; what it leaves is checked one by one.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from quaymaster._api.objects import Taint, Toleration
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.taints import tolerates_all

__all__ = ["NodeTable", "rounded_down"]

ValueT = TypeVar("ValueT", bound=Hashable)

_MILLI: Final = 10**6
_MOST: Final = 2**62
_CHUNK: Final = 256
_SPARE_VALUES: Final = 100
_NOTHING: Final = np.zeros(1, dtype=np.int64)


class _Codes(Generic[ValueT]):
    """One value for each node, as small numbers.

    Copies share the numbers of values, which are only ever added.
    """

    def __init__(self, values: Iterable[ValueT]) -> None:
        self.values: list[ValueT] = []
        self._codes: dict[ValueT, int] = {}
        self.column = np.array([self._code(value) for value in values], dtype=np.int64)
        self._is_shared = False

    def _code(self, value: ValueT) -> int:
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self.values)
            self.values.append(value)
        return code

    def copy(self) -> "_Codes[ValueT]":
        """Return a copy whose values can be replaced."""
        copied: _Codes[ValueT] = _Codes.__new__(_Codes)
        copied.values, copied._codes = self.values, self._codes
        copied.column, copied._is_shared = self.column, True
        return copied

    def with_rows(
        self, rows: NDArray[np.int64], new: Mapping[int, ValueT]
    ) -> "_Codes[ValueT]":
        """Return a copy for other nodes; see `NodeTable.with_rows`."""
        copied = self.copy()
        copied.column, copied._is_shared = _taken(self.column, rows), False
        for place, value in new.items():
            copied.replace(place, value)
        return copied

    def replace(self, place: int, value: ValueT) -> None:
        """Set the value of a node."""
        if self._is_shared:
            self.column, self._is_shared = self.column.copy(), False
        self.column[place] = self._code(value)


class NodeTable:
    """Labels, taints and free resources of nodes.

    A new table has no nodes.
    """

    def __init__(self) -> None:
        self._origin: NodeTable | None = None
        self._requirements: Sequence[Requirements] = ()
        self._changed: dict[int, Requirements] = {}
        self._labels: dict[str, _Codes[Requirement | None]] = {}
        self._taints: _Codes[tuple[Taint, ...]] = _Codes(())
        self._matches: dict[Requirement, list[bool]] = {}
        self._tolerated: dict[tuple[Toleration, ...], list[bool]] = {}
        self._free: dict[str, NDArray[np.int64]] = {}

    def with_rows(
        self,
        rows: NDArray[np.int64],
        requirements: Sequence[Requirements],
        new: Mapping[int, tuple[Sequence[Taint], Mapping[str, int]]],
    ) -> "NodeTable":
        """Return a table with some of these nodes, and with others.

        Args:
            rows: The place of each node in this table; -1 for others.
            requirements: The labels of each node.
            new: The taints and the free resources, as `rounded_down`, of the others, by
                their places.
        """
        table = NodeTable()
        table._requirements = requirements
        table._tolerated = self._tolerated
        table._taints = self._taints.with_rows(
            rows, {place: tuple(taints) for place, (taints, _) in new.items()}
        )
        table._labels = {
            key: codes.with_rows(
                rows, {place: requirements[place].by_key.get(key) for place in new}
            )
            for key, codes in self._labels.items()
            # Values are never removed, and nodes come and go.
            if len(codes.values) <= 2 * len(rows) + _SPARE_VALUES
        }
        # Verdicts are on the values of a column, and columns of other tables differ.
        table._matches = {
            requirement: verdicts
            for requirement, verdicts in self._matches.items()
            if requirement.key in table._labels
        }
        count = len(rows)
        for name in {*self._free}.union(*(free for _, free in new.values())):
            before = self._free.get(name)
            column = np.zeros(count, dtype=np.int64)
            if before is not None:
                column = _taken(before, rows)
            for place, (_, free) in new.items():
                column[place] = free.get(name, 0)
            table._free[name] = column
        return table

    def copy(self) -> "NodeTable":
        """Return a table that can be changed; verdicts so far are shared."""
        copied = NodeTable.__new__(NodeTable)
        copied._origin = self
        copied._requirements = self._requirements
        copied._changed = {}
        copied._labels = {}
        copied._taints = self._taints
        copied._matches = self._matches
        copied._tolerated = self._tolerated
        copied._free = {name: column.copy() for name, column in self._free.items()}
        return copied

    def candidates(
        self,
        requirements: Requirements,
        requests: Amounts,
        tolerations: tuple[Toleration, ...],
        among: NDArray[np.bool_],
    ) -> list[int]:
        """Return the places of those nodes that a pod may fit on."""
        mask = among & self.with_room(requests)
        if not mask.any():
            return []
        mask &= self._tolerating(tolerations)
        for requirement in requirements:
            mask &= self._matching(requirement)
        places: list[int] = np.flatnonzero(mask).tolist()
        return places

    def with_room(self, requests: Amounts) -> NDArray[np.bool_]:
        """Return the nodes that may have room for requests."""
        mask = np.ones(len(self._requirements), dtype=np.bool_)
        for name, amount in requests.items():
            if amount <= 0:
                continue
            column = self._free.get(name)
            if column is None:
                return np.zeros(len(self._requirements), dtype=np.bool_)
            mask &= column >= _milli(amount)
        return mask

    def rooms(
        self, requests: Sequence[Mapping[str, int]], among: NDArray[np.bool_]
    ) -> Iterator[tuple[int, int]]:
        """Yield how many of some nodes may have room for requests, and the first one.

        Args:
            requests: Requests as `rounded_down`; each has an answer.
            among: The nodes.
        """
        for start in range(0, len(requests), _CHUNK):
            chunk = requests[start : start + _CHUNK]
            masks = np.repeat(among[np.newaxis], len(chunk), axis=0)
            for name in {name for each in chunk for name in each}:
                column = self._free.get(name, _NOTHING)
                least = [each.get(name, 0) for each in chunk]
                wanted = np.array(least, dtype=np.int64)[:, np.newaxis]
                # What is not requested may be overdrawn.
                masks &= (column >= wanted) | (wanted <= 0)
            counts = np.count_nonzero(masks, axis=1).tolist()
            firsts = masks.argmax(axis=1).tolist() if len(among) else [0] * len(chunk)
            yield from zip(counts, firsts, strict=True)

    def _tolerating(self, tolerations: tuple[Toleration, ...]) -> NDArray[np.bool_]:
        verdicts = self._tolerated.setdefault(tolerations, [])
        # One verdict for each distinct value and not for each node: 1,000 nodes seldom
        # have more than a few different taints.
        for taints in self._taints.values[len(verdicts) :]:
            verdicts.append(tolerates_all(taints, tolerations))
        return np.array(verdicts, dtype=np.bool_)[self._taints.column]

    def _matching(self, requirement: Requirement) -> NDArray[np.bool_]:
        codes = self._codes_of(requirement.key)
        verdicts = self._matches.setdefault(requirement, [])
        for own in codes.values[len(verdicts) :]:
            verdicts.append(_matches(own, requirement))
        return np.array(verdicts, dtype=np.bool_)[codes.column]

    def _codes_of(self, key: str) -> _Codes[Requirement | None]:
        codes = self._labels.get(key)
        if codes is not None:
            return codes
        if self._origin is None:
            codes = _Codes([each.by_key.get(key) for each in self._requirements])
        else:
            codes = self._origin._codes_of(key).copy()
            for place, requirements in self._changed.items():
                codes.replace(place, requirements.by_key.get(key))
        self._labels[key] = codes
        return codes

    def update(self, place: int, requirements: Requirements, free: Amounts) -> None:
        """Set what a node is like after a pod has come."""
        before = self._changed.get(place, self._requirements[place])
        self._changed[place] = requirements
        for name, amount in free.items():
            column = self._free.get(name)
            if column is not None:
                column[place] = _milli(amount)
        for key, codes in self._labels.items():
            own = requirements.by_key.get(key)
            if own != before.by_key.get(key):
                codes.replace(place, own)


def _taken(column: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the values of some rows; any value for -1."""
    return column[rows] if len(column) else np.zeros(len(rows), dtype=np.int64)


def rounded_down(amounts: Amounts) -> Mapping[str, int]:
    """Return amounts in thousandths, so that comparisons of them hold."""
    return {name: _milli(amount) for name, amount in amounts.items()}


def _milli(amount: int) -> int:
    """Return an amount in thousandths, rounded down, so that comparisons hold."""
    return min(max(amount // _MILLI, -_MOST), _MOST)


def _matches(own: Requirement | None, requirement: Requirement) -> bool:
    if own is None:
        return requirement.is_negative
    negative = own.is_negative and requirement.is_negative
    return negative or own.intersects(requirement)
