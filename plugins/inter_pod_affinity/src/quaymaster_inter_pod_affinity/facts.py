"""Explain a rejection: which term, whose rule it is, and the pods that it is about."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from quaymaster import NodeInfo, Pod, Snapshot
from quaymaster.counting import Namespaces, PodCount, PodTerm
from quaymaster_inter_pod_affinity.filtering import FAR, NEAR, UNWELCOME, FilterState
from quaymaster_inter_pod_affinity.terms import (
    affinity_terms,
    existing_anti_affinity,
)

__all__ = ["AffinityFacts"]

_MOST_DOMAINS: Final = 4
"""How many domains with matching pods are listed."""


class AffinityFacts:
    """Explains why nodes are rejected for one pod.

    Args:
        pod: The pod.
        snapshot: All nodes and pods.
        namespaces: The namespaces of the cluster.
    """

    def __init__(self, pod: Pod, snapshot: Snapshot, namespaces: Namespaces) -> None:
        self._pod = pod
        self._snapshot = snapshot
        self._counts = snapshot.counts
        self._namespaces = namespaces
        self._terms = affinity_terms(pod)

    def explain(self, state: FilterState, node: NodeInfo) -> Sequence[str]:
        """Return the violated rule, and the pods that make the node violate it.

        Args:
            state: The terms of the attempt.
            node: The rejected node.
        """
        # Identity: `judge` returns these objects.
        status = state.judge(node)
        if status is FAR:
            return self._far(node)
        if status is NEAR:
            return self._near(node)
        return self._unwelcome(node) if status is UNWELCOME else ()

    # The pod's affinity ---------------------------------------------------------------

    def _far(self, node: NodeInfo) -> Sequence[str]:
        terms = self._terms.affinity
        query = self._terms.queries.of(terms, self._namespaces)
        group = self._counts.pods(query)
        needs = " and ".join(
            f"a pod with {self._about(term)} in the same {term.topology_key}"
            for term in terms
        )
        first = f"the pod's affinity needs {needs}; {self._where(group, terms)}"
        keys = dict.fromkeys(term.topology_key for term in terms)
        return [first, *(_value(node, key) for key in keys)]

    def _where(self, group: PodCount, terms: Sequence[PodTerm]) -> str:
        """Return the domains with pods that match all terms."""
        if not group.rows:
            return "no such pod runs, and the pod itself does not match"
        texts = []
        for key in dict.fromkeys(term.topology_key for term in terms):
            domains = self._counts.domains(key)
            counts = group.by_domain(domains)
            values = self._snapshot.nodes.label(key).values
            listed = [
                f"{values[number]} {counts.at(number)}"
                for number in domains.existing.tolist()
                if counts.at(number) > 0
            ]
            more = len(listed) - _MOST_DOMAINS
            rest = f" and {more} more" if more > 0 else ""
            texts.append(", ".join(listed[:_MOST_DOMAINS]) + rest)
        places = "; ".join(filter(None, texts))
        return (
            f"such pods run {f'in {places}' if places else 'on nodes without labels'}"
        )

    # The pod's anti-affinity ----------------------------------------------------------

    def _near(self, node: NodeInfo) -> Sequence[str]:
        rules: list[str] = []
        pods: list[str] = []
        for term in self._terms.anti_affinity:
            query = self._terms.queries.of((term,), self._namespaces)
            group = self._counts.pods(query)
            other = self._first(node, term.topology_key, group.rows, query.matches)
            if other is not None:
                rules.append(self._rule("the pod's anti-affinity", term))
                pods.append(f"pod {other}")
        return ["; ".join(dict.fromkeys(rules)), *dict.fromkeys(pods)] if rules else ()

    # The anti-affinity of existing pods -----------------------------------------------

    def _unwelcome(self, node: NodeInfo) -> Sequence[str]:
        rules: list[str] = []
        owners: list[str] = []
        for term, rows in self._existing(node):

            def has_term(pod: Pod, term: PodTerm = term) -> bool:
                owned = existing_anti_affinity(pod)
                return any(existing.term == term for existing in owned)

            owner = self._first(node, term.topology_key, rows, has_term)
            if owner is not None:
                rules.append(self._rule("the anti-affinity of existing pods", term))
                owners.append(f"rule of pod {owner}")
        return ["; ".join(dict.fromkeys(rules)), *owners] if rules else ()

    def _existing(self, node: NodeInfo) -> Iterator[tuple[PodTerm, Iterable[int]]]:
        """Yield the terms about the pod, with the rows of the pods that have them."""
        labels = self._namespaces.labels_of(self._pod.namespace)
        terms = self._counts.existing_terms(existing_anti_affinity)
        rows = {
            existing.term: group.rows
            for existing, group in terms.about(self._pod, labels)
        }
        # Nominated pods may be imagined on the node, and are in no count.
        for pod in node.pods.values():
            for existing in existing_anti_affinity(pod):
                term = existing.term
                if term.selects(self._pod.namespace, labels, self._pod.labels):
                    rows.setdefault(term, {})
        yield from rows.items()

    # All terms ------------------------------------------------------------------------

    def _rule(self, of: str, term: PodTerm) -> str:
        about, key = self._about(term), term.topology_key
        return f"{of} forbids pods with {about} in the same {key}"

    def _about(self, term: PodTerm) -> str:
        """Return the selector of a term, and its namespaces unless it is the pod's."""
        texts = [str(term.selector)]
        if term.namespaces - {self._pod.namespace}:
            texts.append(f"in namespace {', '.join(sorted(term.namespaces))}")
        if term.namespace_selector.matches_everything:
            texts.append("in any namespace")
        elif not term.namespace_selector.matches_nothing:
            texts.append(f"in namespaces with {term.namespace_selector}")
        return " ".join(texts)

    def _first(
        self,
        node: NodeInfo,
        key: str,
        rows: Iterable[int],
        matches: Callable[[Pod], bool],
    ) -> str | None:
        """Return a matching pod around a node, on the node itself if possible.

        Args:
            node: The node, perhaps with imagined pods.
            key: The label whose equal values mean "near".
            rows: The other nodes to search.
            matches: Whether a pod is one of those.
        """
        value = node.labels.get(key)
        if value is None:
            return None
        for pod in filter(matches, node.pods.values()):
            return f"{pod.key} on this node"
        for row in rows:
            other = self._snapshot.nodes.infos[row]
            if other is None or row == node.row or other.labels.get(key) != value:
                continue
            for pod in filter(matches, other.pods.values()):
                return f"{pod.key} on {other.name} (also in {value})"
        return None


def _value(node: NodeInfo, key: str) -> str:
    value = node.labels.get(key)
    return (
        f"the node has no label {key}" if value is None else f"the node is in {value}"
    )
