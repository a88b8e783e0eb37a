"""Groups pods into classes by labels, so that a selector is matched once per class.

A class depends only on labels that some query uses. So a label with a different value
on each pod creates no classes, unless some query selects by it.
"""

from collections.abc import Mapping

from quaymaster._api.objects import Pod
from quaymaster._core.state.counting.indexes import LabelIndex, SelectorIndex
from quaymaster._core.state.counting.pod_count import PodCount, PodQuery
from quaymaster._core.state.node_table import NodeTable

__all__ = ["LabelClasses"]


class _LabelClass:
    """The pods of a namespace that have equal values of all labels of queries."""

    __slots__ = ("groups", "labels", "namespace", "rows", "terminating")

    def __init__(
        self, namespace: str, terminating: bool, labels: Mapping[str, str]
    ) -> None:
        self.namespace = namespace
        self.terminating = terminating
        self.labels = labels
        self.rows: dict[int, int] = {}
        self.groups: dict[PodQuery, PodCount] = {}

    def is_in(self, query: PodQuery) -> bool:
        """Whether these pods count for a query."""
        return (
            (query.namespaces is None or self.namespace in query.namespaces)
            and (query.terminating or not self.terminating)
            and query.selector.matches(self.labels)
        )


class LabelClasses:
    """All pods by label class, and the counts that each class is part of."""

    __slots__ = ("_by_labels", "_by_selector", "_classes", "_keys", "groups")

    def __init__(self) -> None:
        self.groups: dict[PodQuery, PodCount] = {}
        self._keys: dict[str, None] = {}
        self._classes: dict[tuple[object, ...], _LabelClass] = {}
        self._by_labels: LabelIndex[_LabelClass] = LabelIndex()
        self._by_selector: SelectorIndex[PodQuery] = SelectorIndex()

    def knows_keys_of(self, query: PodQuery) -> bool:
        """Whether the classes distinguish all labels of a query."""
        return bool(self._classes) and all(
            requirement.key in self._keys for requirement in query.selector.requirements
        )

    def reclassify(self, query: PodQuery, nodes: NodeTable) -> None:
        """Group all pods again, also by the labels of a query."""
        for requirement in query.selector.requirements:
            self._keys[requirement.key] = None
        # All pods are read again, though only for a selector with a label that no
        # earlier query had.
        self._classes.clear()
        self._by_labels = LabelIndex()
        for info in nodes:
            for pod in info.pods.values():
                label_class = self._class_of(pod)
                rows = label_class.rows
                rows[info.row] = rows.get(info.row, 0) + 1

    def group(self, query: PodQuery, nodes: NodeTable) -> PodCount:
        """Start counting the pods of a query."""
        rows: dict[int, int] = {}
        members = [
            label_class
            for label_class in self._by_labels.candidates(query.selector)
            if label_class.is_in(query)
        ]
        for label_class in members:
            for row, count in label_class.rows.items():
                rows[row] = rows.get(row, 0) + count
        group = self.groups[query] = PodCount(nodes, rows)
        self._by_selector.add(query.selector, query)
        for label_class in members:
            label_class.groups[query] = group
        return group

    def drop(self, query: PodQuery) -> None:
        """Stop counting the pods of a query."""
        del self.groups[query]
        self._by_selector.remove(query.selector, query)
        for label_class in self._by_labels.candidates(query.selector):
            label_class.groups.pop(query, None)

    def add(self, pod: Pod, row: int, count: int) -> None:
        """Add or remove a pod on a node."""
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
