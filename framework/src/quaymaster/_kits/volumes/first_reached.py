"""The first of several volumes, or the like, that each node can reach."""

from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import Final, Generic, TypeVar

import numpy as np

from quaymaster._api.objects.requirements import Requirement
from quaymaster._core.state.arrays import Int64Array, Rows
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.volumes.label_table import LabelTable
from quaymaster._kits.volumes.volume_topology import VolumeTopology

__all__ = ["FirstReached"]

_Key = TypeVar("_Key", str, tuple[int, int])

_NONE: Final = -1
_MOST: Final = 1 << 62  # larger numbers are cut in arrays

# How many objects whose topology is not a single label are tried, each on all nodes.
# Chosen, not measured: no known storage has more.
_MAX_OTHERS: Final = 64


class FirstReached(Generic[_Key]):
    """A number of the first thing, by its key, that each node can reach.

    No two keys are the same.
    """

    def __init__(self) -> None:
        self._by_label: dict[str, _OfLabel[_Key]] = {}
        self._others: list[tuple[_Key, int, VolumeTopology]] = []

    def put(self, key: _Key, topology: VolumeTopology, number: int) -> None:
        """Add a thing.

        Args:
            key: Its position among the others.
            topology: The nodes that can reach it.
            number: Its number, 0 or more.
        """
        plain = topology.plain
        if plain is None:
            insort(self._others, (key, number, topology), key=_key)
        else:
            of_label = self._by_label.setdefault(plain.key, _OfLabel[_Key]())
            of_label.put(plain, key, number)

    def drop(self, key: _Key, topology: VolumeTopology) -> None:
        """Remove a thing that was put."""
        plain = topology.plain
        if plain is None:
            del self._others[bisect_left(self._others, key, key=_key)]
        elif not self._by_label[plain.key].drop(plain, key):
            del self._by_label[plain.key]

    def at(self, labels: Mapping[str, str]) -> int | None:
        """Return the number for a node with these labels; None if it reaches none."""
        numbers = [
            first
            for label, of_label in self._by_label.items()
            if label in labels and (first := of_label.first(labels[label])) is not None
        ]
        for key, number, topology in self._others:
            if topology.includes(labels):
                numbers.append((key, number))
                break
        return min(numbers)[1] if numbers else None

    def rows(self, nodes: NodeTable, rows: Rows) -> Int64Array | None:
        """Return the numbers of many nodes at once, shape ``(N,)``.

        Returns:
            -1 for nodes that reach none, and at most 2**62. None if the topologies have
            different labels: then each node must be checked on its own.
        """
        if self._by_label:
            # Several labels at once would need a minimum over tables with different
            # columns. Storage seldom mixes them; the caller then goes node by node.
            if len(self._by_label) > 1 or self._others:
                return None
            [(label, of_label)] = self._by_label.items()
            return of_label.table.rows(nodes.label(label), rows)
        if len(self._others) > _MAX_OTHERS:
            return None
        firsts: Int64Array = np.full(nodes.count(rows), _NONE, dtype=np.int64)
        for _, number, topology in self._others:
            reached = topology.rows(nodes, rows)
            left = firsts == _NONE
            # In order of the keys, so a node keeps the first number that it gets.
            firsts[left if reached is None else left & reached] = min(number, _MOST)
            if reached is None:
                break
        return firsts


class _OfLabel(Generic[_Key]):
    """The things that are reached from nodes with some values of one label."""

    __slots__ = ("_by_value", "table")

    def __init__(self) -> None:
        self._by_value: dict[str, list[tuple[_Key, int]]] = {}
        self.table = LabelTable(_NONE)

    def first(self, value: str) -> tuple[_Key, int] | None:
        listed = self._by_value.get(value)
        return listed[0] if listed else None

    def put(self, plain: Requirement, key: _Key, number: int) -> None:
        for value in plain.values:
            listed = self._by_value.setdefault(value, [])
            insort(listed, (key, number))
            self.table[value] = min(listed[0][1], _MOST)

    def drop(self, plain: Requirement, key: _Key) -> bool:
        """Remove an object; return whether any is left."""
        for value in plain.values:
            listed = self._by_value[value]
            del listed[bisect_left(listed, key, key=_key)]
            self.table[value] = min(listed[0][1], _MOST) if listed else _NONE
            if not listed:
                del self._by_value[value]
        return bool(self._by_value)


def _key(entry: tuple[_Key, int] | tuple[_Key, int, VolumeTopology]) -> _Key:
    return entry[0]
