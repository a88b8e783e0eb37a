"""The nodes that can reach volumes, one by one and many at once.

Mirrors ``CheckNodeAffinity`` (k8s.io/component-helpers v0.36, ``storage/volume``).
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from quaymaster._api.objects import PersistentVolume
from quaymaster._api.objects.requirements import Operator, Requirement
from quaymaster._api.objects.selectors import NodeTerm, Selector, compile_node_selector
from quaymaster._core.state.arrays import BoolArray, Int64Array, Rows
from quaymaster._core.state.label_rows import selector_matches
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.volumes.label_table import LabelTable

__all__ = ["VolumeTopology", "VolumeTopologyCounts"]

_NOTHING: Final[frozenset[str]] = frozenset()


class VolumeTopology:
    """The nodes that can reach a volume: its node affinity, compiled.

    Only labels are evaluated: conditions on fields of the node always hold, and terms
    that cannot be evaluated match nothing.

    Args:
        source: A volume, or a selector of node labels.

    Attributes:
        terms: Conditions on labels, one of which must hold; None if it can be reached
            from all nodes.
    """

    __slots__ = ("terms",)

    def __init__(self, source: PersistentVolume | Selector) -> None:
        self.terms: tuple[Selector, ...] | None
        if isinstance(source, Selector):
            self.terms = (source,)
            return
        affinity = source.spec.node_affinity
        required = None if affinity is None else affinity.required
        if required is None:
            self.terms = None
        else:
            self.terms = tuple(map(_labels, compile_node_selector(required).terms))

    @property
    def label_keys(self) -> frozenset[str]:
        """The node labels that it depends on."""
        return _NOTHING.union(
            requirement.key
            for term in self.terms or ()
            for requirement in term.requirements
        )

    @property
    def anchor(self) -> Requirement | None:
        """A label that a node must have with one of some values, or None."""
        if self.terms is None or len(self.terms) != 1:
            return None
        for requirement in self.terms[0].requirements:
            if requirement.operator is Operator.IN:
                return requirement
        return None

    @property
    def plain(self) -> Requirement | None:
        """The only condition, if it lists values of one label; else None."""
        anchor = self.anchor
        if anchor is None or self.terms is None:
            return None
        return anchor if len(self.terms[0].requirements) == 1 else None

    def includes(self, labels: Mapping[str, str]) -> bool:
        """Whether the volume can be reached from a node with these labels."""
        return self.terms is None or any(term.matches(labels) for term in self.terms)

    def rows(self, nodes: NodeTable, rows: Rows) -> BoolArray | None:
        """The nodes that can reach it, as truth values ``(N,)``; None if all can."""
        if self.terms is None:
            return None
        reached: BoolArray = np.zeros(nodes.count(rows), dtype=np.bool_)
        for term in self.terms:
            reached |= selector_matches(term, nodes, rows)
        return reached


class VolumeTopologyCounts:
    """How many volumes, or the like, each node can reach; kept as they come and go."""

    def __init__(self) -> None:
        self._from_everywhere = 0
        self._by_label: dict[str, LabelTable] = {}
        self._others: dict[tuple[Selector, ...], tuple[VolumeTopology, int]] = {}

    def add(self, topology: VolumeTopology, number: int = 1) -> None:
        """Count things in, or out if the number is negative."""
        if topology.terms is None:
            self._from_everywhere += number
            return
        plain = topology.plain
        if plain is not None:
            tally = self._by_label.setdefault(plain.key, LabelTable(0))
            for value in plain.values:
                tally[value] += number
            return
        count = self._others.get(topology.terms, (topology, 0))[1] + number
        if count:
            self._others[topology.terms] = (topology, count)
        else:
            del self._others[topology.terms]

    def any_from(self, labels: Mapping[str, str]) -> bool:
        """Whether anything can be reached from a node with these labels."""
        return (
            self._from_everywhere > 0
            or any(
                key in labels and tally[labels[key]] > 0
                for key, tally in self._by_label.items()
            )
            or any(topology.includes(labels) for topology, _ in self._others.values())
        )

    def counts(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        """The number of things that each node can reach, shape ``(N,)``."""
        counts: Int64Array | None = None
        for key, tally in self._by_label.items():
            reachable = tally.rows(nodes.label(key), rows)
            counts = reachable if counts is None else counts + reachable
        if counts is None:
            counts = np.zeros(nodes.count(rows), dtype=np.int64)
        for topology, number in self._others.values():
            reached = topology.rows(nodes, rows)
            counts += number if reached is None else number * reached
        if self._from_everywhere:
            counts += self._from_everywhere
        return counts


def _labels(term: NodeTerm) -> Selector:
    # Upstream asks for a node without a name: there, conditions on fields hold.
    return term.labels
