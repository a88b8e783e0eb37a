"""How welcome a pod is on each node, and how much it likes to be there.

Mirrors ``preScoreState``, ``Score`` and ``NormalizeScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/interpodaffinity/scoring.go``). Preferences go both
ways: those of the pod about others, and those of others about the pod.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np

from quaymaster import NodeInfo, NodeTable, Pod
from quaymaster.arrays import (
    Float64Array,
    Int64Array,
    Rows,
    constant,
    is_constant,
)
from quaymaster.counting import DomainCounts, PodCounts
from quaymaster.namespaces import Namespaces
from quaymaster.scores import MAX_NODE_SCORE
from quaymaster.topology import Domains
from quaymaster_inter_pod_affinity.terms import (
    HARD,
    affinity_terms,
    carried_preferences,
)

__all__ = ["Part", "ScoreState", "normalize", "parts_of"]

_FEW_SCORES: Final = 512
_FEW_DOMAINS: Final = 64


Part: TypeAlias = tuple[int, DomainCounts]
"""A weight, and how many pods there are around each value that it counts for."""


def parts_of(
    pod: Pod, counts: PodCounts, namespaces: Namespaces, hard_weight: int
) -> Sequence[Part]:
    """What a pod's scores are made of.

    Args:
        pod: The pod being scheduled.
        counts: The counts of the snapshot.
        namespaces: The namespaces of the cluster.
        hard_weight: How much a required affinity of a running pod counts.
    """
    parts: list[Part] = []
    terms = affinity_terms(pod)
    for weight, term in terms.preferences:
        query = terms.queries.of((term,), namespaces)
        domains = counts.domains(term.topology_key)
        parts.append((weight, counts.pods(query).by_domain(domains)))
    labels = namespaces.labels_of(pod.namespace)
    for carried, group in counts.carried(carried_preferences).about(pod, labels):
        weight = hard_weight if carried.kind == HARD else carried.weight
        if weight:
            domains = counts.domains(carried.term.topology_key)
            parts.append((weight, group.by_domain(domains)))
    return parts


class ScoreState:
    """The sums of weights around each value of some topology keys.

    Args:
        parts: What they are made of.
    """

    __slots__ = ("_sums",)

    def __init__(self, parts: Iterable[Part]) -> None:
        self._sums: dict[str, tuple[Domains, Int64Array]] = {}
        for weight, counts in parts:
            if counts.total:
                self._add(weight, counts)

    @property
    def is_idle(self) -> bool:
        """Whether there is no pod around that anybody has a preference about."""
        return not self._sums

    def score(self, node: NodeInfo) -> int:
        """The raw score of one node; it may be negative."""
        score = 0
        for key, (domains, sums) in self._sums.items():
            value = node.labels.get(key)
            if value is not None:
                score += int(sums[domains.number(value)])
        return score

    def score_rows(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        """The raw scores of many nodes."""
        everywhere = 0
        scores: Int64Array | None = None
        for domains, sums in self._sums.values():
            common = _common(domains, sums)
            if common is not None:
                everywhere += common
                continue
            more = domains.spread(sums, rows)
            scores = more if scores is None else scores + more
        if scores is None:
            return constant(everywhere, nodes.count(rows))
        return scores + everywhere if everywhere else scores

    def _add(self, weight: int, counts: DomainCounts) -> None:
        domains, sums = counts.domains, counts.array()
        if weight != 1:
            sums = sums * weight
        known = self._sums.get(domains.key)
        if known is not None:
            sums = sums + known[1]
        elif weight == 1 and domains.unlabelled:
            sums = sums.copy()
        if domains.unlabelled:
            sums[-1] = 0
        self._sums[domains.key] = domains, sums


def _common(domains: Domains, sums: Int64Array) -> int | None:
    """What all nodes have in common; None if they differ, or may."""
    existing = domains.existing
    if domains.unlabelled or not 0 < len(existing) <= _FEW_DOMAINS:
        return None
    first = int(sums[existing[0]])
    if len(existing) > 1 and (sums[existing] != first).any():
        return None
    return first


def normalize(scores: Int64Array) -> Int64Array:
    """Scale raw scores so that the lowest becomes 0 and the highest 100.

    Args:
        scores: Shape ``(N,)``, at least one.
    """
    if is_constant(scores):
        return constant(0, len(scores))
    # To find where the lowest is takes half as long as what it is.
    lowest = int(scores[scores.argmin()])
    span = int(scores[scores.argmax()]) - lowest
    if not span:
        return constant(0, len(scores))
    above = scores - lowest if lowest else scores
    if span <= _FEW_SCORES:
        return _scaled(span).take(above)
    return _scale(above, span)


@functools.lru_cache(maxsize=_FEW_SCORES)
def _scaled(span: int) -> Int64Array:
    """What becomes of each score from 0 to the span; to look up takes half the time."""
    return _scale(np.arange(span + 1, dtype=np.int64), span)


def _scale(above: Int64Array, span: int) -> Int64Array:
    shares: Float64Array = np.true_divide(above, span)
    shares *= float(MAX_NODE_SCORE)
    return shares.astype(np.int64)
