"""Keeps the counts that plugins use up to date with the snapshot."""

from collections.abc import Iterator, Mapping
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._core.state.counting.existing_pod_terms import ExistingPodTerms, TermsOf
from quaymaster._core.state.counting.label_classes import LabelClasses
from quaymaster._core.state.counting.pod_count import PodCount, PodQuery
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.topology import Domains, NodeFilter

__all__ = ["PodCounts"]

# Bounds on memory, far above the needs of clusters: counts of few pods take 1.1 KB, the
# domains of a label of 5,000 nodes 142 KB. At the bounds, they take 72 and 145 MB.
_MOST_GROUPS: Final = 1 << 16
_MOST_DOMAINS: Final = 1 << 10


class PodCounts:
    """The counts of a snapshot's pods. Plugins read; only the snapshot writes.

    Args:
        nodes: The nodes, and the pods on them.

    Attributes:
        revision: Grows whenever counts that were returned earlier may have been
            replaced, or may be stale.
    """

    __slots__ = (
        "_classes",
        "_domains",
        "_existing",
        "_nodes",
        "revision",
    )

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._classes = LabelClasses()
        self._existing: dict[TermsOf, ExistingPodTerms] = {}
        self._domains: dict[tuple[str, NodeFilter | None], Domains] = {}
        self.revision = 0

    def pods(self, query: PodQuery) -> PodCount:
        """Count the pods that a query selects."""
        classes = self._classes
        group = classes.groups.pop(query, None)
        if group is not None:
            classes.groups[query] = group  # in order of use: the first is dropped
            return group
        self.revision += 1
        if len(classes.groups) >= _MOST_GROUPS:
            classes.drop(next(iter(classes.groups)))
        # Classes distinguish pods only by the labels that queries read. Grouping by all
        # labels would make a class of each pod of a Job, whose labels contain a uid.
        if not classes.knows_keys_of(query):
            classes.reclassify(query, self._nodes)
        return classes.group(query, self._nodes)

    def existing_terms(self, terms_of: TermsOf) -> ExistingPodTerms:
        """Count the pods that carry terms about other pods, by their terms.

        Args:
            terms_of: Returns a pod's terms; equal functions share their counts.
        """
        terms = self._existing.get(terms_of)
        if terms is None:
            self.revision += 1
            terms = self._existing[terms_of] = ExistingPodTerms(self._nodes, terms_of)
            for info in self._nodes:
                for pod in info.pods.values():
                    terms.add(pod, info.row, 1)
        return terms

    def domains(self, key: str, where: NodeFilter | None = None) -> Domains:
        """Return the domains of a node label, over the nodes that a filter admits.

        Args:
            key: The label.
            where: The filter; None admits all nodes.
        """
        label = key, where
        domains = self._domains.pop(label, None)
        if domains is None:
            self.revision += 1
            if len(self._domains) >= _MOST_DOMAINS:
                self._drop_domains(next(iter(self._domains)))
            domains = Domains(self._nodes, key, where)
        elif domains.revision != self._nodes.node_changes.revision:
            self._follow_nodes(domains)
        self._domains[label] = domains  # in order of use: the first is dropped
        return domains

    def node_changed(self) -> None:
        """Note that a node was added, removed or changed; called by the snapshot."""
        self.revision += 1

    def pod_changed(self, pod: Pod, row: int, count: int) -> None:
        """Add (1) or remove (-1) a pod on a node; called by the snapshot."""
        if self._classes.groups:
            self._classes.add(pod, row, count)
        for terms in self._existing.values():
            if terms.add(pod, row, count):
                self.revision += 1

    def contents(self) -> Mapping[object, object]:
        """Return all counts by their owner, to compare them with later counts.

        Counts that are created later are only in later results.
        """
        for key, where in list(self._domains):
            self.domains(key, where)  # else a later call would bring them up to date
        contents: dict[object, object] = {}
        for group in self._groups():
            contents |= group.contents()
        return contents

    def forget(self) -> None:
        """Remove all counts; they are created again on demand. Framework use only."""
        self.revision += 1
        self._classes = LabelClasses()
        for terms in self._existing.values():
            terms.revision += 1  # those who hold it ask for a new one
        self._existing.clear()
        self._domains.clear()

    def _follow_nodes(self, domains: Domains) -> None:
        moves = domains.catch_up()
        if moves:
            for group in self._groups():
                for row, old, new in moves:
                    group.move(domains, row, old, new)

    def _groups(self) -> Iterator[PodCount]:
        yield from self._classes.groups.values()
        for terms in self._existing.values():
            yield from terms.groups()

    def _drop_domains(self, label: tuple[str, NodeFilter | None]) -> None:
        domains = self._domains.pop(label)
        for group in self._groups():
            group.forget(domains)
