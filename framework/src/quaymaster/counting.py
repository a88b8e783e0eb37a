"""How many pods of some kind there are on each node, and in each topology domain.

Every `Snapshot` has a `PodCounts`, open to every plugin::

    query = PodQuery(selector=selector, namespaces=frozenset({pod.namespace}))
    group = handle.snapshot.counts.pods(query)
    zones = handle.snapshot.counts.domains("topology.kubernetes.io/zone")
    per_zone = group.by_domain(zones)
    per_zone.array()[zones.number("eu-west-1a")]

A question is answered by a count of all pods the first time it is asked; from then on
the answer is kept up to date as pods and nodes come, change and go. Pods that no
question is about cost next to nothing, however many questions there are. What is handed
out is live: ask again in each scheduling cycle, and never write to it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import attrs
import numpy as np

from quaymaster._selector_index import LabelIndex, SelectorIndex
from quaymaster.arrays import Int64Array
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.pod_terms import PodTerm
from quaymaster.selectors import Selector
from quaymaster.topology import OUTSIDE, UNLABELLED, Domains, NodeFilter

__all__ = [
    "CarriedTerm",
    "CarriedTerms",
    "DomainCounts",
    "PodCounts",
    "PodGroup",
    "PodQuery",
    "TermsOf",
]

_DENSE_SLOTS: Final = 256
_SPARSE_ENTRIES: Final = 48
_MOST_GROUPS: Final = 1 << 16
_MOST_DOMAINS: Final = 1 << 10
_LOG_LIMIT: Final = 1 << 14


@attrs.frozen(kw_only=True, cache_hash=True)
class PodQuery:
    """Which pods to count.

    Attributes:
        selector: By their labels.
        namespaces: Where they are; None for everywhere.
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
    """How many pods of a group there are in each domain of a topology key.

    Attributes:
        domains: The domains.
        total: How many pods are in domains, nodes without the label left out.
    """

    __slots__ = ("_dense", "_sparse", "domains", "total")

    def __init__(self, domains: Domains, rows: Mapping[int, int]) -> None:
        self.domains = domains
        self.total = 0
        self._sparse: dict[int, int] = {}
        self._dense: Int64Array | None = None
        if domains.slots <= _DENSE_SLOTS:
            self._dense = np.zeros(domains.slots, dtype=np.int64)
        domain_of = domains.domain_of
        for row, count in rows.items():
            self.add(domain_of[row] if row < len(domain_of) else OUTSIDE, count)

    def at(self, domain: int) -> int:
        """The count of one domain; 0 for `OUTSIDE`."""
        if domain == OUTSIDE:
            return 0
        dense = self._dense
        if dense is None:
            return self._sparse.get(domain, 0)
        return int(dense[domain]) if domain < len(dense) - 1 else 0

    def array(self) -> Int64Array:
        """The counts of all domains, shape ``(slots,)``, the last for no label.

        Never write to it, and do not keep it beyond this scheduling cycle.
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

    def add(self, domain: int, count: int) -> None:
        """Count pods in or out; only the owner does."""
        if domain == OUTSIDE:
            return
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


def _with_slots(counts: Int64Array, slots: int) -> Int64Array:
    """The same counts with room for more domains; the last element stays the last."""
    grown: Int64Array = np.zeros(slots, dtype=np.int64)
    grown[: len(counts) - 1] = counts[:-1]
    grown[-1] = counts[-1]
    return grown


class PodGroup:
    """Some pods, counted on each node.

    Attributes:
        rows: Row -> how many; only rows with some.
    """

    __slots__ = ("_by_domain", "_by_row", "_nodes", "rows")

    def __init__(self, nodes: NodeTable, rows: dict[int, int]) -> None:
        self.rows = rows
        self._nodes = nodes
        self._by_row: Int64Array | None = None
        self._by_domain: dict[Domains, DomainCounts] = {}

    def by_row(self) -> Int64Array:
        """The counts of all rows, shape ``(C,)``, dtype int64; never write to it."""
        capacity, counts = len(self._nodes.pod_count), self._by_row
        if counts is None or len(counts) < capacity:
            counts = np.zeros(capacity, dtype=np.int64)
            if self.rows:
                counts[list(self.rows)] = list(self.rows.values())
            if len(self.rows) > _SPARSE_ENTRIES:
                self._by_row = counts
        return counts

    def by_domain(self, domains: Domains) -> DomainCounts:
        """The counts per domain; of the nodes that count for ``domains`` only."""
        counts = self._by_domain.get(domains)
        if counts is None:
            counts = self._by_domain[domains] = DomainCounts(domains, self.rows)
        return counts

    def add(self, row: int, count: int) -> None:
        """Count pods in or out on a node; only the owner does."""
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
        """Follow a node into another domain; only the owner does."""
        count, counts = self.rows.get(row), self._by_domain.get(domains)
        if count and counts is not None:
            counts.add(old, -count)
            counts.add(new, count)

    def forget(self, domains: Domains) -> None:
        """Stop to count by some domains; only the owner does."""
        self._by_domain.pop(domains, None)


class CarriedTerm(NamedTuple):
    """A term that pods carry: it speaks of other pods.

    Attributes:
        term: Which pods, and how nearness to them is judged.
        weight: How much it counts, if it is a preference.
        kind: Whatever the plugin tells its terms apart by.
    """

    term: PodTerm
    weight: int = 0
    kind: str = ""


TermsOf: TypeAlias = Callable[[Pod], Iterable[CarriedTerm]]
"""Gives the terms that a pod carries: a plain function, which sees nothing but the pod,
always answers the same and is quick for pods without any."""


class CarriedTerms:
    """The pods that carry terms, found by a pod that the terms are about."""

    __slots__ = ("_groups", "_index", "_nodes", "_terms_of")

    def __init__(self, nodes: NodeTable, terms_of: TermsOf) -> None:
        self._nodes = nodes
        self._terms_of = terms_of
        self._groups: dict[CarriedTerm, PodGroup] = {}
        self._index: SelectorIndex[CarriedTerm] = SelectorIndex()

    def __len__(self) -> int:
        """How many different terms there are."""
        return len(self._groups)

    def about(
        self, pod: Pod, namespace_labels: Mapping[str, str]
    ) -> Sequence[tuple[CarriedTerm, PodGroup]]:
        """The terms that are about a pod, each with the pods that carry it.

        Args:
            pod: The pod.
            namespace_labels: The labels of its namespace.
        """
        if not self._groups:
            return ()
        namespace, labels = pod.metadata.namespace, pod.metadata.labels
        return [
            (carried, self._groups[carried])
            for carried in self._index.candidates(labels)
            if carried.term.selects(namespace, namespace_labels, labels)
        ]

    def groups(self) -> Iterable[PodGroup]:
        """The pods by the terms that they carry."""
        return self._groups.values()

    def add(self, pod: Pod, row: int, count: int) -> None:
        """Count a pod in or out on a node; only the owner does."""
        for carried in self._terms_of(pod):
            group = self._groups.get(carried)
            if group is None:
                group = self._groups[carried] = PodGroup(self._nodes, {})
                self._index.add(carried.term.selector, carried)
            group.add(row, count)
            if not group.rows:
                del self._groups[carried]
                self._index.remove(carried.term.selector, carried)


class _LabelClass:
    """The pods of a namespace that agree in every label that anybody asked for."""

    __slots__ = ("groups", "labels", "namespace", "rows", "terminating")

    def __init__(
        self, namespace: str, terminating: bool, labels: Mapping[str, str]
    ) -> None:
        self.namespace = namespace
        self.terminating = terminating
        self.labels = labels
        self.rows: dict[int, int] = {}
        self.groups: dict[PodQuery, PodGroup] = {}

    def is_in(self, query: PodQuery) -> bool:
        """Whether these pods count for a query."""
        return (
            (query.namespaces is None or self.namespace in query.namespaces)
            and (query.terminating or not self.terminating)
            and query.selector.matches(self.labels)
        )


class _Classes:
    """All pods by their label classes, and the groups that each class is in."""

    __slots__ = ("_by_labels", "_by_selector", "_classes", "_keys", "groups")

    def __init__(self) -> None:
        self.groups: dict[PodQuery, PodGroup] = {}
        self._keys: dict[str, None] = {}
        self._classes: dict[tuple[object, ...], _LabelClass] = {}
        self._by_labels: LabelIndex[_LabelClass] = LabelIndex()
        self._by_selector: SelectorIndex[PodQuery] = SelectorIndex()

    def knows_keys_of(self, query: PodQuery) -> bool:
        """Whether the classes differ in all labels that a query asks for."""
        return bool(self._classes) and all(
            requirement.key in self._keys for requirement in query.selector.requirements
        )

    def reclassify(self, query: PodQuery, nodes: NodeTable) -> None:
        """Tell the pods apart by the labels that a query asks for, too."""
        for requirement in query.selector.requirements:
            self._keys[requirement.key] = None
        self._classes.clear()
        self._by_labels = LabelIndex()
        for info in nodes:
            for pod in info.pods.values():
                label_class = self._class_of(pod)
                rows = label_class.rows
                rows[info.row] = rows.get(info.row, 0) + 1

    def group(self, query: PodQuery, nodes: NodeTable) -> PodGroup:
        """Begin to count for a query."""
        rows: dict[int, int] = {}
        members = [
            label_class
            for label_class in self._by_labels.candidates(query.selector)
            if label_class.is_in(query)
        ]
        for label_class in members:
            for row, count in label_class.rows.items():
                rows[row] = rows.get(row, 0) + count
        group = self.groups[query] = PodGroup(nodes, rows)
        self._by_selector.add(query.selector, query)
        for label_class in members:
            label_class.groups[query] = group
        return group

    def drop(self, query: PodQuery) -> None:
        """Stop to count for a query."""
        del self.groups[query]
        self._by_selector.remove(query.selector, query)
        for label_class in self._by_labels.candidates(query.selector):
            label_class.groups.pop(query, None)

    def add(self, pod: Pod, row: int, count: int) -> None:
        """Count a pod in or out on a node."""
        label_class = self._class_of(pod)
        rows = label_class.rows
        left = rows.get(row, 0) + count
        if left:
            rows[row] = left
        else:
            del rows[row]
            if not rows:
                self._drop_class(pod, label_class)
        for group in label_class.groups.values():
            group.add(row, count)

    def _key_of(self, pod: Pod) -> tuple[object, ...]:
        metadata = pod.metadata
        return (
            metadata.namespace,
            metadata.deletion_timestamp is not None,
            *map(metadata.labels.get, self._keys),
        )

    def _class_of(self, pod: Pod) -> _LabelClass:
        key = self._key_of(pod)
        label_class = self._classes.get(key)
        if label_class is None:
            all_labels = pod.metadata.labels
            labels = {k: all_labels[k] for k in self._keys if k in all_labels}
            label_class = _LabelClass(
                pod.metadata.namespace, pod.is_terminating, labels
            )
            self._classes[key] = label_class
            self._by_labels.add(labels, label_class)
            for query in self._by_selector.candidates(labels):
                if label_class.is_in(query):
                    label_class.groups[query] = self.groups[query]
        return label_class

    def _drop_class(self, pod: Pod, label_class: _LabelClass) -> None:
        del self._classes[self._key_of(pod)]
        self._by_labels.remove(label_class.labels, label_class)


class PodCounts:
    """Counts the pods of a snapshot. Plugins ask; only the snapshot writes.

    Args:
        nodes: The nodes, and the pods on them.
    """

    __slots__ = ("_carried", "_classes", "_domains", "_log", "_log_start", "_nodes")

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._classes = _Classes()
        self._carried: dict[TermsOf, CarriedTerms] = {}
        self._domains: dict[tuple[str, NodeFilter | None], tuple[Domains, int]] = {}
        self._log: list[int] = []
        self._log_start = 0

    def pods(self, query: PodQuery) -> PodGroup:
        """The pods that a query is about."""
        classes = self._classes
        group = classes.groups.pop(query, None)
        if group is not None:
            classes.groups[query] = group  # the longest unasked goes first
            return group
        if len(classes.groups) >= _MOST_GROUPS:
            classes.drop(next(iter(classes.groups)))
        if not classes.knows_keys_of(query):
            classes.reclassify(query, self._nodes)
        return classes.group(query, self._nodes)

    def carried(self, terms_of: TermsOf) -> CarriedTerms:
        """The pods that carry terms about other pods.

        Args:
            terms_of: What a pod's terms are; equal functions share their counts.
        """
        carried = self._carried.get(terms_of)
        if carried is None:
            carried = self._carried[terms_of] = CarriedTerms(self._nodes, terms_of)
            for info in self._nodes:
                for pod in info.pods.values():
                    carried.add(pod, info.row, 1)
        return carried

    def domains(self, key: str, where: NodeFilter | None = None) -> Domains:
        """The values of a node label, over the nodes that a filter admits.

        Args:
            key: The label.
            where: Which nodes count; None for all of them.
        """
        question = key, where
        end = self._log_start + len(self._log)
        known = self._domains.pop(question, None)
        if known is None:
            if len(self._domains) >= _MOST_DOMAINS:
                self._forget_domains(next(iter(self._domains)))
            domains = Domains(self._nodes, key, where)
            self._domains[question] = domains, end
            return domains
        domains, position = known
        if position != end:
            self._update(domains, self._changed_since(position))
            known = domains, end
        self._domains[question] = known
        return domains

    def node_changed(self, row: int) -> None:
        """A node came, went or changed; only the snapshot tells."""
        if not self._domains:
            return
        self._log.append(row)
        if len(self._log) > max(_LOG_LIMIT, 4 * len(self._nodes.infos)):
            dropped = len(self._log) // 2
            del self._log[:dropped]
            self._log_start += dropped

    def pod_changed(self, pod: Pod, row: int, count: int) -> None:
        """A pod came to a node (1) or left it (-1); only the snapshot tells."""
        if self._classes.groups:
            self._classes.add(pod, row, count)
        for carried in self._carried.values():
            carried.add(pod, row, count)

    def _changed_since(self, position: int) -> Iterable[int]:
        start = position - self._log_start
        if start < 0:
            return range(len(self._nodes.infos))
        return dict.fromkeys(self._log[start:])

    def _update(self, domains: Domains, rows: Iterable[int]) -> None:
        moves = domains.update(rows)
        if moves:
            for group in self._groups():
                for row, old, new in moves:
                    group.move(domains, row, old, new)

    def _groups(self) -> Iterator[PodGroup]:
        yield from self._classes.groups.values()
        for carried in self._carried.values():
            yield from carried.groups()

    def _forget_domains(self, question: tuple[str, NodeFilter | None]) -> None:
        domains, _ = self._domains.pop(question)
        for group in self._groups():
            group.forget(domains)
