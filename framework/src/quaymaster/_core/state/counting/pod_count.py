"""Counts pods on each node and in each topology domain."""

from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._api.objects.selectors import Selector
from quaymaster._core.state.arrays import Int64Array
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.topology import OUTSIDE, UNLABELLED, Domains

__all__ = ["DomainCounts", "PodCount", "PodQuery"]

# Counts of few domains are an array from the start. It is not larger (2 KB) than a dict
# of as many entries as below, and `array` returns it in a twentieth of the time.
_DENSE_SLOTS: Final = 256

# Counts of many domains become an array once more than this many are not 0. `array`
# needs 5 us to build one from a dict of 48, and 22 us from a dict of 192, instead of
# 0.1 us. But for 5,000 hosts, the dict takes a thirteenth of the memory.
_SPARSE_ENTRIES: Final = 48


@attrs.frozen(kw_only=True, cache_hash=True)
class PodQuery:
    """Selects the pods to count.

    Attributes:
        selector: Matches the labels of the pods.
        namespaces: The namespaces of the pods; None for all.
        terminating: Whether pods that are being deleted count, too.
    """

    selector: Selector
    namespaces: frozenset[str] | None = None
    terminating: bool = False

    def matches(self, pod: Pod) -> bool:
        """Whether a pod counts."""
        return (
            (self.namespaces is None or pod.metadata.namespace in self.namespaces)
            and (self.terminating or not pod.is_terminating)
            and self.selector.matches(pod.metadata.labels)
        )


class DomainCounts:
    """The number of pods of a `PodCount` in each domain of a topology key.

    Attributes:
        domains: The domains.
        total: The number of pods in domains, without nodes that lack the label.
    """

    __slots__ = ("_changes", "_dense", "_sparse", "domains", "total")

    def __init__(self, domains: Domains, rows: Mapping[int, int]) -> None:
        self.domains = domains
        self.total = 0
        self._sparse: dict[int, int] = {}
        self._dense: Int64Array | None = None
        self._changes: ChangeLog[int] | None = None
        if domains.slots <= _DENSE_SLOTS:
            self._dense = np.zeros(domains.slots, dtype=np.int64)
        domain_of = domains.domain_of
        for row, count in rows.items():
            self.add(domain_of[row] if row < len(domain_of) else OUTSIDE, count)

    def at(self, domain: int) -> int:
        """Return the count of one domain; 0 for `OUTSIDE`."""
        if domain == OUTSIDE:
            return 0
        dense = self._dense
        if dense is None:
            return self._sparse.get(domain, 0)
        return int(dense[domain]) if domain < len(dense) - 1 else 0

    def array(self) -> Int64Array:
        """Return the counts of all domains, shape ``(slots,)``, the last for no label.

        Do not write to it, and do not keep it after this scheduling cycle.
        """
        slots = self.domains.slots
        dense = self._dense
        if dense is None:
            counts: Int64Array = np.zeros(slots, dtype=np.int64)
            if self._sparse:
                counts[list(self._sparse)] = list(self._sparse.values())
            return counts
        if len(dense) != slots:
            dense = self._dense = _with_slots(dense, slots)
        return dense

    @property
    def changes(self) -> ChangeLog[int]:
        """The log of domains whose count has changed, kept from the first call on."""
        if self._changes is None:
            self._changes = ChangeLog()
        return self._changes

    def add(self, domain: int, count: int) -> None:
        """Add or remove pods; called by `PodCount`."""
        if domain == OUTSIDE:
            return
        if self._changes is not None:
            self._changes.note(domain)
        if domain != UNLABELLED:
            self.total += count
        if self._dense is not None:
            if domain >= len(self._dense) - 1:
                self._dense = _with_slots(self._dense, self.domains.slots)
            self._dense[domain] += count
            return
        counts = self._sparse
        left = counts.get(domain, 0) + count
        if left:
            counts[domain] = left
            if len(counts) > _SPARSE_ENTRIES:
                self._dense = self.array()
                self._sparse = {}
        else:
            del counts[domain]


class PodCount:
    """The pods of one query or one term, counted on each node.

    Attributes:
        rows: Row -> number of pods; rows without pods are left out.
    """

    __slots__ = ("_by_domain", "_by_row", "_nodes", "rows")

    def __init__(self, nodes: NodeTable, rows: dict[int, int]) -> None:
        self.rows = rows
        self._nodes = nodes
        self._by_row: Int64Array | None = None
        self._by_domain: dict[Domains, DomainCounts] = {}

    def by_row(self) -> Int64Array:
        """Return the counts of all rows, shape ``(C,)``, int64; do not write to it."""
        capacity, counts = self._nodes.capacity, self._by_row
        if counts is None or len(counts) < capacity:
            counts = np.zeros(capacity, dtype=np.int64)
            if self.rows:
                counts[list(self.rows)] = list(self.rows.values())
            if len(self.rows) > _SPARSE_ENTRIES:
                self._by_row = counts
        return counts

    def by_domain(self, domains: Domains) -> DomainCounts:
        """Return the counts per domain, of the nodes that ``domains`` admits."""
        counts = self._by_domain.get(domains)
        if counts is None:
            counts = self._by_domain[domains] = DomainCounts(domains, self.rows)
        return counts

    def add(self, row: int, count: int) -> None:
        """Add or remove pods on a node; called by `PodCounts`."""
        left = self.rows.get(row, 0) + count
        if left:
            self.rows[row] = left
        else:
            del self.rows[row]
        if self._by_row is not None:
            if row >= len(self._by_row):
                self._by_row = None
            else:
                self._by_row[row] = left
        for domains, counts in self._by_domain.items():
            domain_of = domains.domain_of
            if row < len(domain_of):
                counts.add(domain_of[row], count)

    def move(self, domains: Domains, row: int, old: int, new: int) -> None:
        """Move a node's pods to another domain; called by `PodCounts`."""
        count, counts = self.rows.get(row), self._by_domain.get(domains)
        if count and counts is not None:
            counts.add(old, -count)
            counts.add(new, count)

    def contents(self) -> Mapping[object, object]:
        """Return all counts by their owner, to compare them with later counts."""
        contents: dict[object, object] = {id(self): dict(self.rows)}
        if self._by_row is not None:
            contents[id(self), "rows"] = self.by_row().tobytes()
        for domains, counts in self._by_domain.items():
            contents[id(self), id(domains)] = counts.total, counts.array().tobytes()
        return contents

    def forget(self, domains: Domains) -> None:
        """Stop counting by some domains; called by `PodCounts`."""
        self._by_domain.pop(domains, None)


def _with_slots(counts: Int64Array, slots: int) -> Int64Array:
    """Return the counts with room for more domains; the last element stays last."""
    grown: Int64Array = np.zeros(slots, dtype=np.int64)
    grown[: len(counts) - 1] = counts[:-1]
    grown[-1] = counts[-1]
    return grown
