"""Filter nodes by hard constraints.

Mirrors ``preFilterState`` and ``Filter`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/podtopologyspread/filtering.go``), except that the
true minimum is used where upstream tracks the two smallest domains. Both agree as
long as hypothetical changes affect only one node, as is always the case upstream.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from quaymaster import Int64Array, Node, NodeInfo, NodeVerdicts, Pod, Rows, Status
from quaymaster.counting import DomainCounts, Domains, PodCounts
from quaymaster_pod_topology_spread.constraints import Constraint

__all__ = ["FilterState", "counts_for"]

_TOO_UNEVEN: Final = Status.unschedulable(
    "node(s) didn't match pod topology spread constraints"
)
_NO_LABEL: Final = Status.unresolvable(
    "node(s) didn't match pod topology spread constraints (missing required label)"
)
_UNEVEN, _UNLABELLED = 1, 2
_STATUSES: Final = (None, _TOO_UNEVEN, _NO_LABEL)
# Counts of up to this many domains become Python integers, whose minimum is computed
# faster. With 0, a decision of TopologySpreading (3 zones) takes 1.05 times as long;
# from 32 domains on, arrays are as fast.
_FEW_DOMAINS: Final = 16

# MaxInt32, as in upstream's ``newCriticalPaths``: without any domain, no node exceeds
# the limit because of this constraint.
_NO_MINIMUM: Final = 2**31 - 1


def counts_for(
    constraints: Iterable[Constraint], counts: PodCounts
) -> Sequence[DomainCounts]:
    """Return the counts for each constraint."""
    return [
        counts.pods(constraint.query).by_domain(
            counts.domains(constraint.topology_key, constraint.where)
        )
        for constraint in constraints
    ]


class FilterState:
    """The pod's hard constraints, with their counts.

    Args:
        pod: The pod being scheduled.
        constraints: Its hard constraints.
        counts: The result of `counts_for`.
    """

    __slots__ = (
        "_constraints",
        "_counts",
        "_imagined",
        "_minima",
        "_pod",
        "_summaries",
    )

    def __init__(
        self,
        pod: Pod,
        constraints: Sequence[Constraint],
        counts: Sequence[DomainCounts],
    ) -> None:
        self._pod = pod
        self._constraints = constraints
        self._counts = counts
        self._imagined: list[dict[int, int]] = [{} for _ in constraints]
        self._minima: list[int | None] = [None] * len(constraints)
        self._summaries: dict[int, str] | None = None

    def clone(self) -> "FilterState":
        """Return a copy to which hypothetical pods can be added."""
        other = FilterState.__new__(FilterState)
        other._pod = self._pod
        other._constraints = self._constraints
        other._counts = self._counts
        other._imagined = [dict(changes) for changes in self._imagined]
        other._minima = list(self._minima)
        other._summaries = None
        return other

    def imagine(self, other: Pod, node: Node, change: int) -> None:
        """Add (1) or remove (-1) a pod, even if it is being deleted."""
        labels = node.metadata.labels
        if other.metadata.namespace != self._pod.metadata.namespace:
            return
        if any(
            # A node that lacks the key of any hard constraint counts for none of them.
            constraint.topology_key not in labels
            for constraint in self._constraints
        ):
            return
        for index, constraint in enumerate(self._constraints):
            if not constraint.selector.matches(other.metadata.labels):
                continue
            if constraint.where is not None and not constraint.where.matches(node):
                continue
            domain = self._counts[index].domains.number(labels[constraint.topology_key])
            changes = self._imagined[index]
            changes[domain] = changes.get(domain, 0) + change
            # Kept until a trial changes the counts: the minimum is needed for each
            # node, and it is the same for all.
            self._minima[index] = None
            self._summaries = None

    def judge(self, node: NodeInfo) -> Status | None:
        """Return why a node is rejected, or None; the first constraint decides."""
        labels = node.labels
        for index, constraint in enumerate(self._constraints):
            value = labels.get(constraint.topology_key)
            if value is None:
                # Not a violation that preemption could resolve, hence unresolvable.
                return _NO_LABEL
            counts = self._counts[index]
            domain = counts.domains.number(value)
            count = counts.at(domain) + self._imagined[index].get(domain, 0)
            if count > self._limit(index):
                return _TOO_UNEVEN
        return None

    def judge_rows(self, rows: Rows) -> NodeVerdicts | None:
        """Filter many nodes with the result of `judge` for each."""
        codes = None
        for index, counts in enumerate(self._counts):
            domains, limit = counts.domains, self._limit(index)
            has_all = domains.where is None and not domains.unlabelled
            # Most constraints reject nothing, and then no array of the size of the
            # cluster is made.
            if has_all and max(self._numbers(index), default=0) <= limit:
                continue
            verdicts = (self._array(index) > limit).view(np.uint8)
            verdicts[-1] = _UNLABELLED
            more = domains.spread(verdicts, rows)
            # The first constraint that rejects a node decides, as in `judge`.
            codes = more if codes is None else np.where(codes, codes, more)
        return None if codes is None else NodeVerdicts(codes, _status_of)

    # For explanations -----------------------------------------------------------------

    @property
    def constraints(self) -> Sequence[Constraint]:
        """The pod's hard constraints."""
        return self._constraints

    @property
    def summaries(self) -> dict[int, str]:
        """The texts about constraints that explanations have rendered, by index."""
        if self._summaries is None:
            self._summaries = {}
        return self._summaries

    def violated(self, node: NodeInfo) -> int | None:
        """Return the index of the constraint that decides `judge`, or None."""
        for index, constraint in enumerate(self._constraints):
            value = node.labels.get(constraint.topology_key)
            if value is None or self.count(index, value) > self._limit(index):
                return index
        return None

    def domains(self, index: int) -> Domains:
        """Return the domains of a constraint."""
        return self._counts[index].domains

    def count(self, index: int, value: str) -> int:
        """Return the number of pods in the domain of a value."""
        domain = self._counts[index].domains.number(value)
        return self._counts[index].at(domain) + self._imagined[index].get(domain, 0)

    def minimum(self, index: int) -> int:
        """Return the number of pods that the smallest domain counts with."""
        return self._minimum(index)

    def counts_itself(self, index: int) -> bool:
        """Whether the pod matches the constraint's own selector."""
        constraint = self._constraints[index]
        return constraint.selector.matches(self._pod.metadata.labels)

    def _limit(self, index: int) -> int:
        """Return the highest count with which a domain accepts another pod."""
        constraint = self._constraints[index]
        itself = constraint.selector.matches(self._pod.metadata.labels)
        # Upstream compares matchNum + selfMatchNum - minMatchNum > maxSkew. Rearranged,
        # one number per constraint is compared with the count of each domain.
        return constraint.max_skew + self._minimum(index) - itself

    def _minimum(self, index: int) -> int:
        minimum = self._minima[index]
        if minimum is None:
            minimum = self._minima[index] = self._find_minimum(index)
        return minimum

    def _find_minimum(self, index: int) -> int:
        existing = self._counts[index].domains.existing
        # With too few domains the smallest counts as empty, so that a full domain is
        # rejected until an autoscaler adds another one.
        if len(existing) < self._constraints[index].min_domains:
            return 0
        return min(self._numbers(index), default=_NO_MINIMUM)

    def _numbers(self, index: int) -> Iterable[int]:
        """Return the counts of existing domains; of many, the minimum and maximum."""
        existing = self._counts[index].domains.existing
        counts = self._array(index).take(existing)
        if len(counts) <= _FEW_DOMAINS:
            numbers: list[int] = counts.tolist()
            return numbers
        return counts.item(counts.argmin()), counts.item(counts.argmax())

    def _array(self, index: int) -> Int64Array:
        counts, changes = self._counts[index].array(), self._imagined[index]
        if changes:
            counts = counts.copy()
            for domain, change in changes.items():
                counts[domain] += change
        return counts


def _status_of(code: int) -> Status:
    status = _STATUSES[code]
    assert status is not None
    return status
