"""Keeps the counts that plugins have asked for in step with the snapshot."""

from collections.abc import Iterator, Mapping
from typing import Final

from quaymaster._objects import Pod
from quaymaster._state.counting.existing_pod_terms import ExistingPodTerms, TermsOf
from quaymaster._state.counting.label_classes import LabelClasses
from quaymaster._state.counting.pod_count import PodCount, PodQuery
from quaymaster._state.node_table import NodeTable
from quaymaster._state.topology import Domains, NodeFilter

__all__ = ["PodCounts"]

# Bounds on memory, far above what clusters ask for: a group of few pods takes 1.1 KB, a
# label over 5,000 nodes 142 KB. Full, they hold 72 and 145 MB.
_MOST_GROUPS: Final = 1 << 16
_MOST_DOMAINS: Final = 1 << 10


class PodCounts:
    """Counts the pods of a snapshot. Plugins ask; only the snapshot writes.

    Args:
        nodes: The nodes, and the pods on them.

    Attributes:
        revision: Grows whenever a count that was handed out may no longer be kept up to
            date, or an answer may be made of other counts.
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
            classes.groups[query] = group  # the longest unasked goes first
            return group
        self.revision += 1
        if len(classes.groups) >= _MOST_GROUPS:
            classes.drop(next(iter(classes.groups)))
        if not classes.knows_keys_of(query):
            classes.reclassify(query, self._nodes)
        return classes.group(query, self._nodes)

    def existing_terms(self, terms_of: TermsOf) -> ExistingPodTerms:
        """Count the pods that carry terms about other pods, by their terms.

        Args:
            terms_of: Gives a pod's terms; equal functions share their counts.
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
        """The values of a node label, over the nodes that a filter admits.

        Args:
            key: The label.
            where: Which nodes count; None for all of them.
        """
        question = key, where
        domains = self._domains.pop(question, None)
        if domains is None:
            self.revision += 1
            if len(self._domains) >= _MOST_DOMAINS:
                self._forget_domains(next(iter(self._domains)))
            domains = Domains(self._nodes, key, where)
        elif domains.revision != self._nodes.node_changes.revision:
            self._follow_nodes(domains)
        self._domains[question] = domains  # the longest unasked goes first
        return domains

    def node_changed(self) -> None:
        """A node came, went or changed; only the snapshot tells."""
        self.revision += 1

    def pod_changed(self, pod: Pod, row: int, count: int) -> None:
        """A pod came to a node (1) or left it (-1); only the snapshot tells."""
        if self._classes.groups:
            self._classes.add(pod, row, count)
        for terms in self._existing.values():
            if terms.add(pod, row, count):
                self.revision += 1

    def contents(self) -> Mapping[object, object]:
        """All counts by what holds them, to be compared with those of later on.

        What is counted for the first time later on is there beside them.
        """
        for key, where in list(self._domains):
            self.domains(key, where)  # nothing is left to be brought up to date later
        found: dict[object, object] = {}
        for group in self._groups():
            found |= group.contents()
        return found

    def forget(self) -> None:
        """Count everything anew when it is asked for; only the framework does."""
        self.revision += 1
        self._classes = LabelClasses()
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

    def _forget_domains(self, question: tuple[str, NodeFilter | None]) -> None:
        domains = self._domains.pop(question)
        for group in self._groups():
            group.forget(domains)
