"""Score nodes by soft constraints.

Mirrors ``preScoreState``, ``Score`` and ``NormalizeScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/podtopologyspread/scoring.go``). The raw score of a
node is the number of pods in its domains, weighted per constraint with the logarithm of
the number of its domains; less is better.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from quaymaster import MAX_NODE_SCORE, BoolArray, Int64Array, NodeInfo, NodeTable, Rows
from quaymaster.columns import Float64Array, constant, freeze
from quaymaster.counting import OUTSIDE, Domains, PodCount, PodCounts
from quaymaster_pod_topology_spread.constraints import HOSTNAME, Constraint
from quaymaster_pod_topology_spread.logarithm import size_weight

__all__ = ["Counted", "ScoreState", "counted"]

# Up to this number, a float64 represents every integer exactly.
_EXACT: Final = 1 << 53

# With up to this many domains, scores are computed once per domain. Compared with
# scoring 5,000 nodes, that takes 0.75 of the time for 3 domains, 0.9 for 16, 1.1 for 32
# and 4 for 256. With 0, a decision of PreferredTopologySpreading takes 1.25 times as
# long.
_FEW_DOMAINS: Final = 16


class Counted(NamedTuple):
    """A constraint with its domains and the counted pods.

    Attributes:
        constraint: The constraint.
        domains: The domains of its topology key.
        group: The pods.
    """

    constraint: Constraint
    domains: Domains
    group: PodCount


def counted(constraints: Iterable[Constraint], counts: PodCounts) -> Sequence[Counted]:
    """Return the domains and the counted pods of each constraint."""
    return [
        Counted(
            constraint,
            counts.domains(constraint.topology_key, constraint.where),
            counts.pods(constraint.query),
        )
        for constraint in constraints
    ]


class ScoreState:
    """The pod's soft constraints, with their counts.

    Args:
        constraints: The result of `counted`; at least one.
        nodes: The nodes.
        rows: The rows that are compared.
        require_all_keys: Whether to ignore nodes that lack a topology key.
        is_snapshot: Whether the nodes are those of the snapshot. If not, an extender
            has returned them: pods are still counted in the domains of the snapshot,
            but the compared nodes and their labels are those of the extender.
    """

    __slots__ = (
        "_constraints",
        "_few",
        "_is_snapshot",
        "_nodes",
        "_only_values",
        "_parts",
        "_require_all_keys",
    )

    def __init__(
        self,
        constraints: Sequence[Counted],
        nodes: NodeTable,
        rows: Rows,
        *,
        require_all_keys: bool,
        is_snapshot: bool = True,
    ) -> None:
        self._constraints = constraints
        self._nodes = nodes
        self._is_snapshot = is_snapshot
        self._require_all_keys = require_all_keys
        self._few: _FewScores | None = None
        # The only constraint, if all nodes of one domain have the same score.
        self._only_values: _Values | None = None
        self._parts: list[_Hosts | _Values] = []
        for constraint in constraints:
            if constraint.constraint.topology_key == HOSTNAME:
                self._parts.append(_Hosts(constraint))
                continue
            values = _Values(constraint, require_all_keys)
            self._parts.append(values)
            if len(constraints) == 1:
                self._only_values = values
        kept = rows
        ignored = self.ignored(rows)
        # The weights depend on the nodes that are scored and not on the cluster:
        # ``initPreScoreState`` goes through the filtered nodes.
        if ignored is not None:
            kept = nodes.row_numbers(rows)[~ignored]
        for part in self._parts:
            if is_snapshot:
                part.weigh(nodes, kept)
            else:
                part.weigh_listed(nodes, kept)

    def score(self, node: NodeInfo) -> int:
        """Return the raw score of one node."""
        labels = node.labels
        if self._require_all_keys and any(
            counted.constraint.topology_key not in labels
            for counted in self._constraints
        ):
            return 0
        # Summed in floats and rounded once. Rounding each constraint would move nodes
        # of equal totals apart.
        score = 0.0
        for part in self._parts:
            value = labels.get(part.constraint.topology_key)
            if value is not None:
                score += part.cost(part.count(node, value))
        return _round(score)

    def score_rows(self, rows: Rows) -> Int64Array:
        """Return the raw scores of many nodes."""
        ignored, values = self.ignored(rows), self._only_values
        if values is None:
            scores = _round_all(self._sum(rows))
        elif values.are_few(rows):
            self._few = _FewScores(values, rows)
            return self._few.raw
        else:
            scores = values.domains.spread(_round_all(values.domain_costs()), rows)
        if ignored is not None:
            scores = np.where(ignored, 0, scores)
        return scores

    def normalize(self, scores: Int64Array, rows: Rows) -> Int64Array:
        """Invert raw scores, so that the lowest becomes the best."""
        # Identity: frozen scores of `score_nodes` come back as the same object.
        if self._few is not None and scores is self._few.raw:
            return self._few.normalized()
        ignored = self.ignored(rows)
        compared = scores if ignored is None else scores[~ignored]
        lowest, highest = _range(compared)
        # All nodes are equally empty, and dividing by 0 is left out; upstream gives 100
        # as well.
        if highest == 0:
            normalized: Int64Array = np.full_like(scores, MAX_NODE_SCORE)
        else:
            normalized = _turned(scores, lowest, highest)
        if ignored is not None:
            normalized[ignored] = 0
        return normalized

    def ignored(self, rows: Rows) -> BoolArray | None:
        """Return the rows that lack a required topology key, or None."""
        if not self._require_all_keys:
            return None
        lacking: BoolArray | None = None
        for part in self._parts:
            unlabelled = self._unlabelled(part.domains, rows)
            if unlabelled is None:
                continue
            lacking = unlabelled if lacking is None else lacking | unlabelled
        return lacking if lacking is not None and lacking.any() else None

    def _unlabelled(self, domains: Domains, rows: Rows) -> BoolArray | None:
        """Return the rows without a label, or None if all nodes have it."""
        if not self._is_snapshot:
            return self._nodes.label(domains.key).codes[rows] < 0
        if domains.where is None and not domains.unlabelled:
            return None
        return domains.codes[rows] < 0

    def _sum(self, rows: Rows) -> Float64Array:
        total: Float64Array | None = None
        for part in self._parts:
            costs = part.costs(rows)
            total = costs if total is None else total + costs
        assert total is not None
        return total


class _Hosts:
    """A constraint over host names: each node counts only its own pods.

    Nodes that share a host name are not summed, and inclusion policies do not apply.
    """

    def __init__(self, counted: Counted) -> None:
        self.constraint, self.domains, self._group = counted
        self._weight = 0.0

    def weigh(self, nodes: NodeTable, rows: Rows) -> None:
        self._weight = size_weight(nodes.count(rows))

    weigh_listed = weigh

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
    """A constraint over any other label: the pods of a domain are summed."""

    def __init__(self, counted: Counted, require_all_keys: bool) -> None:
        self.constraint, self.domains, group = counted
        self._counts = group.by_domain(self.domains).array()
        self._weight = 0.0
        self._empty = -1 if require_all_keys else self.domains.number("")
        if self._empty >= 0:
            # A missing label counts like an empty value.
            self._counts = self._counts.copy()
            # In upstream, the value of a missing label is the empty string, which forms
            # a domain of its own if system defaults are used.
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
            # Nodes without the label and nodes with an empty value are one domain.
            seen[-1] &= not seen[self._empty]
        self._weight = size_weight(int(np.count_nonzero(seen)))

    def weigh_listed(self, nodes: NodeTable, rows: Rows) -> None:
        labels = [info.labels for info in nodes.infos_at(rows)]
        key = self.constraint.topology_key
        # Nodes without the label are included only if they count as empty.
        self._weight = size_weight(
            len({node_labels.get(key, "") for node_labels in labels})
        )

    def count(self, _node: NodeInfo, value: str) -> int:
        domain = self.domains.number(value)
        # Only a node from an extender can have a value that the snapshot lacks.
        return 0 if domain == OUTSIDE else int(self._counts[domain])

    def cost(self, count: int) -> float:
        return count * self._weight + float(self.constraint.max_skew - 1)

    def costs(self, rows: Rows) -> Float64Array:
        return self.domains.spread(self.domain_costs(), rows)

    def are_few(self, rows: Rows) -> bool:
        """Return whether the rows are all nodes, and there are few domains."""
        domains = self.domains
        return (
            isinstance(rows, slice)
            and domains.where is None
            and not domains.unlabelled
            and 0 < len(domains.existing) <= _FEW_DOMAINS
        )

    def few_costs(self) -> list[float]:
        """Return the cost of each existing domain."""
        counts: list[int] = self._counts.take(self.domains.existing).tolist()
        return [self.cost(count) for count in counts]

    def spread_few(self, by_domain: Sequence[int], rows: Rows) -> Int64Array:
        """Return for each row the value of its domain."""
        domains, existing = self.domains, self.domains.existing
        values: Int64Array = np.array(by_domain, dtype=np.int64)
        if existing[-1] + 1 > len(existing):  # some domain no longer has a node
            among = np.zeros(domains.slots, dtype=np.int64)
            among[existing] = values
            values = among
        return values.take(domains.codes[rows])

    def domain_costs(self) -> Float64Array:
        costs: Float64Array = np.multiply(self._counts, self._weight)
        costs += float(self.constraint.max_skew - 1)
        costs[-1] = 0.0
        return costs


class _FewScores:
    """The scores of nodes in a few domains, computed once per domain.

    Args:
        values: The only constraint.
        rows: The rows; see `_Values.are_few`.

    Attributes:
        raw: Shape ``(N,)``: the raw scores, frozen.
    """

    __slots__ = ("_by_domain", "_rows", "_values", "raw")

    def __init__(self, values: _Values, rows: Rows) -> None:
        self._values = values
        self._rows = rows
        self._by_domain = [_round(cost) for cost in values.few_costs()]
        self.raw = freeze(values.spread_few(self._by_domain, rows))

    def normalized(self) -> Int64Array:
        """Invert the scores like `ScoreState.normalize`."""
        lowest, highest = min(self._by_domain), max(self._by_domain)
        if highest == 0:
            return constant(MAX_NODE_SCORE, len(self.raw))
        top = highest + lowest
        turned = [
            MAX_NODE_SCORE * (top - score) // highest for score in self._by_domain
        ]
        if lowest == highest:
            return constant(turned[0], len(self.raw))
        return self._values.spread_few(turned, self._rows)


def _range(scores: Int64Array) -> tuple[int, int]:
    """Return the lowest and the highest score, or 0 without scores."""
    if not len(scores):
        return 0, 0
    # `argmax` and `argmin` take half as long as `max` and `min`.
    return int(scores[scores.argmin()]), int(scores[scores.argmax()])


def _turned(scores: Int64Array, lowest: int, highest: int) -> Int64Array:
    top = highest + lowest
    if MAX_NODE_SCORE * top + highest < _EXACT:
        # Floats this small have an exact integer quotient, which takes a seventh of
        # the time of an integer division.
        turned: Float64Array = np.multiply(top - scores, float(MAX_NODE_SCORE))
        turned /= highest
        return turned.astype(np.int64)
    return MAX_NODE_SCORE * (top - scores) // highest


def _round(score: float) -> int:
    whole = int(score)
    return whole + (score - whole >= 0.5)


def _round_all(scores: Float64Array) -> Int64Array:
    """Round halves up, like Go's ``math.Round`` for numbers of at least 0."""
    whole: Float64Array = np.floor(scores)
    whole += scores - whole >= 0.5
    return whole.astype(np.int64)
