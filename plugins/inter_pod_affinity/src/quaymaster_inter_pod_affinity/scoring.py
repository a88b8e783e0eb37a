"""Rank nodes by preferred terms of the pod and of existing pods.

Mirrors ``preScoreState``, ``Score`` and ``NormalizeScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/interpodaffinity/scoring.go``). Both count:
the pod's preferences for others, and the preferences of others for the pod.
"""

from collections.abc import Sequence
from typing import Final

from quaymaster import Int64Array, NodeInfo, NodeTable, Pod, Rows
from quaymaster.columns import constant, is_constant
from quaymaster.counting import OUTSIDE, DomainCounts, Domains, Namespaces, PodCounts
from quaymaster_inter_pod_affinity.hosts import HostScores, Part
from quaymaster_inter_pod_affinity.scale import scale
from quaymaster_inter_pod_affinity.terms import (
    HARD,
    affinity_terms,
    existing_preferences,
)

__all__ = ["ScoreSource", "ScoreState", "normalize", "parts_of"]

# With up to this many domains, `_common` checks whether all sums are equal. With 0, a
# decision of SchedulingPodAffinity (one zone) takes 1.17 times as long. From 1,024
# domains on, the check takes as long as it saves.
_FEW_DOMAINS: Final = 64


def parts_of(
    pod: Pod, counts: PodCounts, namespaces: Namespaces, hard_weight: int
) -> Sequence[Part]:
    """Return the counts and weights whose sums are a pod's scores.

    Args:
        pod: The pod being scheduled.
        counts: The counts of the snapshot.
        namespaces: The namespaces of the cluster.
        hard_weight: The weight of running pods' required affinity terms.
    """
    parts: list[Part] = []
    terms = affinity_terms(pod)
    for weight, term in terms.preferences:
        query = terms.queries.of((term,), namespaces)
        domains = counts.domains(term.topology_key)
        parts.append((weight, counts.pods(query).by_domain(domains)))
    labels = namespaces.labels_of(pod.namespace)
    for existing, group in counts.existing_terms(existing_preferences).about(
        pod, labels
    ):
        weight = hard_weight if existing.kind == HARD else existing.weight
        if weight:
            domains = counts.domains(existing.term.topology_key)
            parts.append((weight, group.by_domain(domains)))
    return parts


class ScoreSource:
    """The weighted counts for pods of a kind, and their sums by host.

    Args:
        parts: See `parts_of`.

    Attributes:
        parts: The same.
    """

    __slots__ = ("_hosts", "parts")

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self._hosts: HostScores | None = None

    def hosts(self) -> HostScores | None:
        """Return the current sums by host, or None if another topology key matters."""
        if self._hosts is not None:
            self._hosts.refresh()
        elif self.parts:
            domains = self.parts[0][1].domains
            # Identity: `PodCounts` has one `Domains` for each topology key.
            if domains.is_by_row and all(
                counts.domains is domains for _, counts in self.parts
            ):
                self._hosts = HostScores(self.parts)
        return self._hosts


class ScoreState:
    """The sums of weights around each value of some topology keys.

    Args:
        source: The weighted counts.
    """

    __slots__ = ("_hosts", "_sums")

    def __init__(self, source: ScoreSource) -> None:
        self._sums: dict[str, tuple[Domains, Int64Array]] = {}
        # Terms without a matching pod are left out: if none is left, the hook skips,
        # and Score is not called at all.
        parts = [part for part in source.parts if part[1].total]
        self._hosts = source.hosts() if parts else None
        if self._hosts is not None:
            domains = parts[0][1].domains
            self._sums[domains.key] = domains, self._hosts.sums
            return
        for weight, counts in parts:
            self._add(weight, counts)

    @property
    def is_idle(self) -> bool:
        """Whether no preferred term matches any existing pod."""
        return not self._sums

    def score(self, node: NodeInfo) -> int:
        """Return the raw score of one node; it may be negative."""
        score = 0
        for key, (domains, sums) in self._sums.items():
            value = node.labels.get(key)
            domain = OUTSIDE if value is None else domains.number(value)
            # Only a node from an extender can have a value that the snapshot lacks.
            if domain != OUTSIDE:
                score += int(sums[domain])
        return score

    def score_rows(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        """Return the raw scores of many nodes."""
        if self._hosts is not None:
            return self._hosts.raw(rows)
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

    def normalize(self, scores: Int64Array) -> Int64Array:
        """Scale raw scores so that the lowest becomes 0 and the highest 100.

        Args:
            scores: Shape ``(N,)``, at least one.
        """
        host_scores = None if self._hosts is None else self._hosts.scores(scores)
        return normalize(scores) if host_scores is None else host_scores

    def _add(self, weight: int, counts: DomainCounts) -> None:
        domains = counts.domains
        sums = counts.array() * weight
        # Nodes without the label are near no pod.
        sums[-1] = 0
        earlier = self._sums.get(domains.key)
        if earlier is not None:
            sums += earlier[1]
        self._sums[domains.key] = domains, sums


def _common(domains: Domains, sums: Int64Array) -> int | None:
    """Return the sum that all nodes have, or None if they may differ."""
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
    # `argmin` and `argmax` take half as long as `min` and `max`.
    lowest = int(scores[scores.argmin()])
    span = int(scores[scores.argmax()]) - lowest
    if not span:
        return constant(0, len(scores))
    return scale(scores - lowest if lowest else scores, span)
