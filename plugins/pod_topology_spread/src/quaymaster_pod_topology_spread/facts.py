"""Explain a violated constraint: the pods per domain, and the skew with this pod."""

from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster import NodeInfo, NodeTable, Pod
from quaymaster.counting import OUTSIDE, Domains
from quaymaster.objects import find_untolerated_taint, required_node_affinity
from quaymaster_pod_topology_spread.constraints import Action, Constraint
from quaymaster_pod_topology_spread.filtering import FilterState

__all__ = ["explain_spread"]

_MOST_LISTED: Final = 8
"""With more domains, only the smallest and the largest are listed."""

_LISTED_ENDS: Final = 3


def explain_spread(
    pod: Pod,
    node: NodeInfo,
    nodes: NodeTable,
    state: FilterState,
    *,
    compares_numbers: bool,
) -> Sequence[str]:
    """Return the constraint that a node violates, and what it counts.

    Args:
        pod: The pod.
        node: The node.
        nodes: All nodes.
        state: The pod's hard constraints, with their counts.
        compares_numbers: Whether tolerations with ``Gt`` and ``Lt`` count.
    """
    index = state.violated(node)
    if index is None:
        return ()
    constraint = state.constraints[index]
    key = constraint.topology_key
    value = node.labels.get(key)
    if value is None:
        return [f"the node has no label {key}, over which the pod must be spread"]
    summary = state.summaries.get(index)
    if summary is None:
        summary = _Summary(pod, nodes, state, index, compares_numbers).text()
        state.summaries[index] = summary
    return [summary, _skew(state, index, value)]


def _skew(state: FilterState, index: int, value: str) -> str:
    """Return how far a domain would be above the smallest one."""
    count, smallest = state.count(index, value), state.minimum(index)
    constraint = state.constraints[index]
    if state.counts_itself(index):
        count += 1
        pods = f"{value} would have {count} with this pod"
    else:
        pods = f"{value} has {count} (this pod itself does not match)"
    skew = f"{count - smallest} above the smallest ({smallest})"
    return f"{pods}, {skew}; maxSkew is {constraint.max_skew}"


class _Summary:
    """Describes what one constraint counts, in every domain."""

    def __init__(
        self,
        pod: Pod,
        nodes: NodeTable,
        state: FilterState,
        index: int,
        compares_numbers: bool,
    ) -> None:
        self._pod = pod
        self._nodes = nodes
        self._state = state
        self._index = index
        self._compares_numbers = compares_numbers
        self._constraint: Constraint = state.constraints[index]
        self._domains: Domains = state.domains(index)

    def text(self) -> str:
        constraint = self._constraint
        own = self._pod.spec.topology_spread_constraints
        of = "constraint" if own else "default constraint"
        keys = self._match_label_keys() if own else ()
        merged = f" (matchLabelKeys {', '.join(keys)})" if keys else ""
        selector = f"{constraint.query.selector}{merged}"
        counts = f"{of} over {constraint.topology_key} counts pods with {selector}"
        parts = (f"{counts}: {self._listed()}", *self._too_few(), *self._left_out())
        return "; ".join(parts)

    def _match_label_keys(self) -> Sequence[str]:
        hard = [
            constraint
            for constraint in self._pod.spec.topology_spread_constraints
            if constraint.when_unsatisfiable == Action.DO_NOT_SCHEDULE.value
        ]
        return hard[self._index].match_label_keys

    def _listed(self) -> str:
        values = self._nodes.label(self._constraint.topology_key).values
        counted = [
            (self._state.count(self._index, values[number]), values[number])
            for number in self._domains.existing.tolist()
        ]
        if len(counted) > _MOST_LISTED:
            counted.sort()
            low = ", ".join(
                f"{value} {count}" for count, value in counted[:_LISTED_ENDS]
            )
            high = ", ".join(
                f"{value} {count}" for count, value in counted[-_LISTED_ENDS:]
            )
            return f"{len(counted)} domains, from {low} to {high}"
        smallest = min(counted, default=(0, ""))[0]
        return ", ".join(
            f"{value} {count}{self._note(value) if count == smallest else ''}"
            for count, value in sorted(counted, key=lambda pair: pair[1])
        )

    def _note(self, value: str) -> str:
        """Return why a smallest domain cannot take the pod though it counts."""
        nodes = [node for node in self._in_domain(value) if self._counts(node)]
        obstacles = {self._obstacle(node) for node in nodes}
        if not nodes or "" in obstacles:
            return " (smallest)"
        return f" (smallest; {' or '.join(sorted(obstacles))})"

    def _obstacle(self, node: NodeInfo) -> str:
        """Return what keeps the pod off a node that counts, or empty."""
        if not required_node_affinity(self._pod).matches(node.node):
            return "excluded by node affinity, but nodeAffinityPolicy is Ignore"
        if node.node.spec.unschedulable:
            return "cordoned"
        if self._has_taint(node):
            return "tainted, but nodeTaintsPolicy is Ignore"
        return ""

    def _too_few(self) -> Iterator[str]:
        existing, least = len(self._domains.existing), self._constraint.min_domains
        if existing < least:
            yield (
                f"{existing} domains are fewer than minDomains {least}, "
                "so the smallest counts as 0"
            )

    def _left_out(self) -> Iterator[str]:
        """Yield the domains whose nodes do not count, with the reasons."""
        reasons: dict[str, set[str]] = {}
        counted: set[str] = set()
        for node in self._nodes.infos_at(self._nodes.rows):
            value = node.labels.get(self._constraint.topology_key)
            if value is None:
                continue
            if self._counts(node):
                counted.add(value)
            else:
                reasons.setdefault(value, set()).add(self._exclusion(node))
        left_out = [value for value in sorted(reasons) if value not in counted]
        if left_out:
            listed = [
                f"{value} ({' or '.join(sorted(reasons[value]))})"
                for value in left_out[:_MOST_LISTED]
            ]
            more = len(left_out) - len(listed)
            rest = f" and {more} more" if more else ""
            yield f"does not count {', '.join(listed)}{rest}"

    def _exclusion(self, node: NodeInfo) -> str:
        where = self._constraint.where
        assert where is not None, "without a filter, all nodes count"
        missing = sorted(where.keys - node.labels.keys())
        if missing:
            return f"no label {missing[0]}"
        if not required_node_affinity(self._pod).matches(node.node) and (
            where.selector is not None or where.terms is not None
        ):
            return "excluded by the pod's node affinity"
        return "tainted, nodeTaintsPolicy Honor"

    def _has_taint(self, node: NodeInfo) -> bool:
        taint = find_untolerated_taint(
            node.taints,
            self._pod.spec.tolerations,
            compares_numbers=self._compares_numbers,
        )
        return taint is not None

    def _counts(self, node: NodeInfo) -> bool:
        return self._domains.domain_of[node.row] != OUTSIDE

    def _in_domain(self, value: str) -> Iterator[NodeInfo]:
        for node in self._nodes.infos_at(self._nodes.rows):
            if node.labels.get(self._constraint.topology_key) == value:
                yield node
