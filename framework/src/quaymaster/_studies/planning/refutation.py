"""Refutes plans without trying them, also by what is missing after a loss."""

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import chain, repeat

from quaymaster._api.objects import Node
from quaymaster._studies.planning.domains import DomainRule
from quaymaster._studies.planning.losses import Loss
from quaymaster._studies.planning.needs import Need
from quaymaster._studies.planning.question import Counts, Question

__all__ = ["Refutation"]


class Refutation:
    """Refutes plans without a simulation.

    Args:
        question: The input.
        needs: The conditions of the plans.
        nodes: The nodes of the input.
        rules: The conditions of their domains.
        lows: The fewest nodes of each group, there from the beginning.
    """

    def __init__(
        self,
        question: Question,
        needs: Sequence[Need],
        nodes: Sequence[Node],
        rules: Sequence[DomainRule],
        lows: Counts,
    ) -> None:
        self._lows = lows
        self._rules = rules
        self._lasting_rules = [rule for rule in rules if rule.lasts]
        self._loss = question.loss
        self._needs = needs
        self._lasting = [need for need in needs if need.lasts]
        self._values = [
            [question.lost_with(node) for node in group.samples()]
            for group in question.groups
        ]
        self._at = [question.lost_with(node) for node in nodes]

    def refutes(self, counts: Counts) -> bool:
        """Whether a plan, bought at once, lacks something, now or after a loss."""
        return not all(rule.is_met(counts) for rule in self._rules) or self._lacks(
            counts
        )

    def refutes_in_rounds(self, counts: Counts) -> bool:
        """Whether a plan lacks something, even if its nodes are bought in rounds."""
        return not all(
            rule.is_met_in_rounds(counts, self._lows) for rule in self._rules
        ) or self._lacks(counts)

    def _lacks(self, counts: Counts) -> bool:
        """Whether a plan lacks something, however its nodes are bought."""
        if not all(need.is_met(counts) for need in self._needs):
            return True
        if self._loss is None:
            return False
        if self._loss.label == Loss.NODE.label:
            lost = self._loss.count
            return any(_lacks_after_nodes(need, counts, lost) for need in self._lasting)
        return self._lacks_after_values(counts, self._loss.count)

    def lack(self, counts: Counts) -> str:
        """Return what a plan has too little of; empty if only a loss shows it."""
        needs = (need.of for need in self._needs if not need.is_met(counts))
        rules = (rule.of for rule in self._rules if not rule.is_met(counts))
        return next(chain(needs, rules), "")

    def _lacks_after_values(self, counts: Counts, number: int) -> bool:
        in_groups = [
            _by_value(values, n) for values, n in zip(self._values, counts, strict=True)
        ]
        lost = {value for group in in_groups for value in group} | {*self._at}
        if any(
            not rule.is_met(counts, value)
            for value in lost - {""}
            for rule in self._lasting_rules
        ):
            return True
        return any(
            _has(need, counts) - _worst(need, in_groups, self._at, number)
            < need.missing
            for need in self._lasting
        )


def _by_value(values: Sequence[str], count: int) -> Mapping[str, int]:
    """Return the number of a group's nodes per value: values take turns."""
    counts: Counter[str] = Counter()
    for index, value in enumerate(values):
        counts[value] += count // len(values) + (index < count % len(values))
    return {value: n for value, n in counts.items() if n and value}


def _worst(
    need: Need, in_groups: Sequence[Mapping[str, int]], at: Sequence[str], number: int
) -> int:
    """Return what some values have of a need: those that have most of it."""
    gone: Counter[str] = Counter()
    for group, each in zip(in_groups, need.capacity, strict=True):
        for value, nodes in group.items():
            gone[value] += nodes * each
    for value, have in zip(at, need.existing, strict=True):
        if value:
            gone[value] += have
    return sum(nlargest(number, gone.values()))


def _lacks_after_nodes(need: Need, counts: Counts, number: int) -> bool:
    own = chain.from_iterable(
        # Of the equal nodes of a group, at most so many can be among those lost.
        repeat(each, min(n, number))
        for n, each in zip(counts, need.capacity, strict=True)
    )
    worst = sum(nlargest(number, (*own, *need.existing)))
    return _has(need, counts) - worst < need.missing


def _has(need: Need, counts: Counts) -> int:
    return sum(n * each for n, each in zip(counts, need.capacity, strict=True))
