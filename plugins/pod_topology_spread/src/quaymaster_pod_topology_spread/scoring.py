"""How evenly the pods would be spread with one more on a node.

Mirrors ``preScoreState``, ``Score`` and ``NormalizeScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/podtopologyspread/scoring.go``). The raw score of a
node is the number of pods in its domains, each constraint's weighted with the logarithm
of how many domains there are; less is better.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster import NodeInfo, NodeTable, Pod
from quaymaster.arrays import BoolArray, Float64Array, Int64Array, Rows
from quaymaster.counting import PodCounts
from quaymaster.scores import MAX_NODE_SCORE
from quaymaster.topology import Domains
from quaymaster_pod_topology_spread.constraints import HOSTNAME, Constraint
from quaymaster_pod_topology_spread.logarithm import size_weight

__all__ = ["ScoreState"]

_EXACT: Final = 1 << 53
_FEW_SCORES: Final = 512


class ScoreState:
    """The pod's soft constraints, with the counts that nodes are compared by.

    Args:
        pod: The pod being scheduled.
        constraints: Its soft constraints; at least one.
        counts: The counts of the snapshot.
        nodes: The nodes.
        rows: Those that are to be compared.
        require_all_keys: Whether nodes without some topology key are left out.
    """

    __slots__ = ("_constraints", "_parts", "_require_all_keys")

    def __init__(
        self,
        pod: Pod,
        constraints: Sequence[Constraint],
        counts: PodCounts,
        nodes: NodeTable,
        rows: Rows,
        *,
        require_all_keys: bool,
    ) -> None:
        self._constraints = constraints
        self._require_all_keys = require_all_keys
        self._parts: list[_Hosts | _Values] = []
        domains = [counts.domains(one.topology_key, one.where) for one in constraints]
        self._parts = [
            _Hosts(pod, one, counts, its_domains)
            if one.topology_key == HOSTNAME
            else _Values(one, counts, its_domains, require_all_keys)
            for one, its_domains in zip(constraints, domains, strict=True)
        ]
        kept = rows
        ignored = self.ignored(rows)
        if ignored is not None:
            kept = nodes.row_numbers(rows)[~ignored]
        for part in self._parts:
            part.weigh(nodes, kept)

    def score(self, node: NodeInfo) -> int:
        """The raw score of one node."""
        labels = node.labels
        if self._require_all_keys and any(
            one.topology_key not in labels for one in self._constraints
        ):
            return 0
        score = 0.0
        for part in self._parts:
            value = labels.get(part.constraint.topology_key)
            if value is not None:
                score += part.cost(part.count(node, value))
        return _round(score)

    def score_rows(self, rows: Rows) -> Int64Array:
        """The raw scores of many nodes."""
        ignored = self.ignored(rows)
        if len(self._parts) == 1 and isinstance(self._parts[0], _Values):
            part = self._parts[0]
            scores = part.domains.spread(_round_all(part.domain_costs()), rows)
        else:
            scores = _round_all(self._sum(rows))
        if ignored is not None:
            scores = np.where(ignored, 0, scores)
        return scores

    def normalize(self, scores: Int64Array, rows: Rows) -> Int64Array:
        """Turn raw scores around, so that the smallest becomes the best."""
        ignored = self.ignored(rows)
        compared = scores if ignored is None else scores[~ignored]
        lowest, highest = _range(compared)
        if highest == 0:
            normalized: Int64Array = np.full_like(scores, MAX_NODE_SCORE)
        elif ignored is None and highest - lowest < _FEW_SCORES:
            between = np.arange(lowest, highest + 1, dtype=np.int64)
            normalized = _turned(between, lowest, highest).take(scores - lowest)
        else:
            normalized = _turned(scores, lowest, highest)
        if ignored is not None:
            normalized[ignored] = 0
        return normalized

    def ignored(self, rows: Rows) -> BoolArray | None:
        """Which rows lack a topology key that they need; None if none does."""
        if not self._require_all_keys:
            return None
        lacking: BoolArray | None = None
        for part in self._parts:
            domains = part.domains
            if domains.where is None and not domains.unlabelled:
                continue
            unlabelled = domains.codes[rows] < 0
            lacking = unlabelled if lacking is None else lacking | unlabelled
        return lacking if lacking is not None and lacking.any() else None

    def _sum(self, rows: Rows) -> Float64Array:
        total: Float64Array | None = None
        for part in self._parts:
            costs = part.costs(rows)
            total = costs if total is None else total + costs
        assert total is not None
        return total


class _Hosts:
    """A constraint over host names: each node is asked for its own pods.

    Nodes that share a host name are not added up, and inclusion policies do not apply.
    """

    def __init__(
        self, pod: Pod, constraint: Constraint, counts: PodCounts, domains: Domains
    ) -> None:
        self.constraint = constraint
        self.domains = domains
        self._group = counts.pods(constraint.query)
        self._namespace = pod.metadata.namespace
        self._weight = 0.0

    def weigh(self, nodes: NodeTable, rows: Rows) -> None:
        self._weight = size_weight(nodes.count(rows))

    def count(self, node: NodeInfo, _value: str) -> int:
        return sum(map(self.constraint.query.matches, node.pods.values()))

    def cost(self, count: int) -> float:
        return count * self._weight + float(self.constraint.max_skew - 1)

    def costs(self, rows: Rows) -> Float64Array:
        costs: Float64Array = np.multiply(self._group.by_row()[rows], self._weight)
        costs += float(self.constraint.max_skew - 1)
        if self.domains.where is not None or self.domains.unlabelled:
            costs[self.domains.codes[rows] < 0] = 0.0
        return costs


class _Values:
    """A constraint over any other node label: the pods of a domain are added up."""

    def __init__(
        self,
        constraint: Constraint,
        counts: PodCounts,
        domains: Domains,
        require_all_keys: bool,
    ) -> None:
        self.constraint = constraint
        self.domains = domains
        self._counts = counts.pods(constraint.query).by_domain(domains).array()
        self._weight = 0.0
        self._empty = -1 if require_all_keys else domains.number("")
        if self._empty >= 0:
            # Without the label counts as an empty value does.
            self._counts = self._counts.copy()
            self._counts[self._empty] += self._counts[-1]
            self._counts[-1] = 0

    def weigh(self, _nodes: NodeTable, rows: Rows) -> None:
        domains = self.domains
        is_all = isinstance(rows, slice) and domains.where is None
        if is_all and not domains.unlabelled:
            self._weight = size_weight(len(domains.existing))
            return
        seen = domains.seen_at(rows)
        if self._empty >= 0:
            seen[-1] &= not seen[self._empty]
        self._weight = size_weight(int(np.count_nonzero(seen)))

    def count(self, _node: NodeInfo, value: str) -> int:
        return int(self._counts[self.domains.number(value)])

    def cost(self, count: int) -> float:
        return count * self._weight + float(self.constraint.max_skew - 1)

    def costs(self, rows: Rows) -> Float64Array:
        return self.domains.spread(self.domain_costs(), rows)

    def domain_costs(self) -> Float64Array:
        costs: Float64Array = np.multiply(self._counts, self._weight)
        costs += float(self.constraint.max_skew - 1)
        costs[-1] = 0.0
        return costs


def _range(scores: Int64Array) -> tuple[int, int]:
    """The lowest and the highest score; 0 if there are none."""
    if not len(scores):
        return 0, 0
    # To find where the highest is takes half as long as what it is.
    return int(scores[scores.argmin()]), int(scores[scores.argmax()])


def _turned(scores: Int64Array, lowest: int, highest: int) -> Int64Array:
    top = highest + lowest
    if MAX_NODE_SCORE * top + highest < _EXACT:
        # A quotient of floats this small has the right integer part, and takes a
        # seventh of the time of an integer division.
        turned: Float64Array = np.multiply(top - scores, float(MAX_NODE_SCORE))
        turned /= highest
        return turned.astype(np.int64)
    return MAX_NODE_SCORE * (top - scores) // highest


def _round(score: float) -> int:
    whole = int(score)
    return whole + (score - whole >= 0.5)


def _round_all(scores: Float64Array) -> Int64Array:
    """Round halves up, as Go's ``math.Round`` does for what is not negative."""
    whole: Float64Array = np.floor(scores)
    whole += scores - whole >= 0.5
    return whole.astype(np.int64)
