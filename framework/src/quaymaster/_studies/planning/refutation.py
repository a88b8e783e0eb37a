"""Refutes plans without trying them, also by what is missing after a loss."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from quaymaster._api.objects import Node
from quaymaster._clusters.inmemory.node_health import zone_of
from quaymaster._studies.planning.domains import DomainRule
from quaymaster._studies.planning.needs import Need
from quaymaster._studies.planning.question import Counts, Loss, Question

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
        self._zones = [group.zones() for group in question.groups]
        self._at = [zone_of(node) for node in nodes]

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
        if self._loss is Loss.NODE:
            return any(_lacks_after_node(need, counts) for need in self._lasting)
        if self._loss is Loss.ZONE:
            return self._lacks_after_zone(counts)
        return False

    def lack(self, counts: Counts) -> str:
        """Return what a plan has too little of; empty if only a loss shows it."""
        needs = (need.of for need in self._needs if not need.is_met(counts))
        rules = (rule.of for rule in self._rules if not rule.is_met(counts))
        return next(chain(needs, rules), "")

    def _lacks_after_zone(self, counts: Counts) -> bool:
        in_zone = [
            _by_zone(zones, n) for zones, n in zip(self._zones, counts, strict=True)
        ]
        lost = {zone for each in in_zone for zone in each} | {*self._at}
        for zone in lost - {""}:
            rest = tuple(
                n - each.get(zone, 0) for n, each in zip(counts, in_zone, strict=True)
            )
            if not all(rule.is_met(counts, zone) for rule in self._lasting_rules):
                return True
            for need in self._lasting:
                gone = sum(
                    have
                    for have, at in zip(need.existing, self._at, strict=True)
                    if at == zone
                )
                if _has(need, rest) < need.missing + gone:
                    return True
        return False


def _by_zone(zones: Sequence[str], count: int) -> Mapping[str, int]:
    """Return the number of a group's nodes per zone: zones take turns."""
    found: Counter[str] = Counter()
    for index, zone in enumerate(zones):
        found[zone] += count // len(zones) + (index < count % len(zones))
    return {zone: n for zone, n in found.items() if n}


def _lacks_after_node(need: Need, counts: Counts) -> bool:
    own = (each for n, each in zip(counts, need.capacity, strict=True) if n)
    worst = max((*own, *need.existing), default=0)
    return _has(need, counts) - worst < need.missing


def _has(need: Need, counts: Counts) -> int:
    return sum(n * each for n, each in zip(counts, need.capacity, strict=True))
