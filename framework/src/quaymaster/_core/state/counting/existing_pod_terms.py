"""Counts the existing pods by the terms that they have about other pods."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from quaymaster._api.objects import Pod
from quaymaster._core.state.counting.indexes import SelectorIndex
from quaymaster._core.state.counting.pod_count import PodCount
from quaymaster._core.state.counting.pod_terms import PodTerm
from quaymaster._core.state.node_table import NodeTable

__all__ = ["ExistingPodTerm", "ExistingPodTerms", "TermsOf"]


class ExistingPodTerm(NamedTuple):
    """A term of pods on nodes that is about other pods.

    Attributes:
        term: The other pods, and the topology key whose equal values mean "near".
        weight: Its weight, if it is a preference.
        kind: A name by which the plugin distinguishes its terms.
    """

    term: PodTerm
    weight: int = 0
    kind: str = ""


TermsOf: TypeAlias = Callable[[Pod], Iterable[ExistingPodTerm]]
"""Returns the terms of a pod. It must depend on the pod alone, and must be quick for
pods without terms."""


class ExistingPodTerms:
    """The terms of all pods on nodes, indexed by the pods that they are about.

    Attributes:
        revision: Grows whenever the first pod with a term comes, or the last one goes.
    """

    __slots__ = ("_groups", "_index", "_nodes", "_terms_of", "revision")

    def __init__(self, nodes: NodeTable, terms_of: TermsOf) -> None:
        self._nodes = nodes
        self._terms_of = terms_of
        self.revision = 0
        self._groups: dict[ExistingPodTerm, PodCount] = {}
        self._index: SelectorIndex[ExistingPodTerm] = SelectorIndex()

    def __len__(self) -> int:
        """Return the number of different terms."""
        return len(self._groups)

    def about(
        self, pod: Pod, namespace_labels: Mapping[str, str]
    ) -> Sequence[tuple[ExistingPodTerm, PodCount]]:
        """Return the terms that are about a pod, each with the count of its owners.

        Args:
            pod: The pod.
            namespace_labels: The labels of its namespace.
        """
        if not self._groups:
            return ()
        namespace, labels = pod.metadata.namespace, pod.metadata.labels
        return [
            (existing, self._groups[existing])
            for existing in self._index.candidates(labels)
            if existing.term.selects(namespace, namespace_labels, labels)
        ]

    def __bool__(self) -> bool:
        """Whether any pod on a node has a term."""
        return bool(self._groups)

    def groups(self) -> Iterable[PodCount]:
        """Return the counts of all terms."""
        return self._groups.values()

    def add(self, pod: Pod, row: int, count: int) -> bool:
        """Add or remove a pod on a node; called by `PodCounts`.

        Returns:
            Whether a term was added or removed.
        """
        changed = False
        for existing in self._terms_of(pod):
            group = self._groups.get(existing)
            if group is None:
                group = self._groups[existing] = PodCount(self._nodes, {})
                self._index.add(existing.term.selector, existing)
                changed = True
            group.add(row, count)
            # Terms without a pod are removed: a template that is gone would otherwise
            # be compared with each pod for ever.
            if not group.rows:
                del self._groups[existing]
                self._index.remove(existing.term.selector, existing)
                changed = True
        self.revision += changed
        return changed
