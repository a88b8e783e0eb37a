"""Estimates which nodes place most pods for their price, without a simulation.

An estimate fills empty nodes of a group with pending pods, in the order in which the
scheduler takes them, by what they request. It neglects all other rules, so it only
proposes: the simulation decides.
"""

from collections.abc import Collection, Iterable, Sequence

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.planning.amounts import Amounts, requested
from quaymaster._studies.planning.shapes import Shapes
from quaymaster._studies.planning.trials import Trial

__all__ = ["Estimates", "Purchase"]

_SLACK = 0.95
"""Nodes are bought together if each places this part of what the first one places."""


@attrs.frozen(kw_only=True)
class Purchase:
    """Nodes of one group, and what they are expected to do.

    Attributes:
        index: The group.
        nodes: How many nodes.
        ratio: The worth of the pods that they place, in parts of their price.
    """

    index: int
    nodes: int
    ratio: float


@attrs.define(eq=False)
class _Kind:
    """Pending pods that request the same and that the same groups can take."""

    amounts: Amounts
    takers: frozenset[int]
    count: int


class Estimates:
    """Proposes the nodes to buy next.

    Args:
        shapes: What the groups' nodes offer.
        weights: What one node of each group weighs.
    """

    def __init__(self, shapes: Shapes, weights: Sequence[int]) -> None:
        self._shapes = shapes
        self._weights = weights

    def purchases(
        self, pods: Iterable[Pod], groups: Collection[int], highs: Sequence[int]
    ) -> list[Purchase]:
        """Return a purchase for each group, that which places most for its price first.

        Args:
            pods: The pending pods, in the order in which they will be tried.
            groups: The groups to choose from.
            highs: How many nodes each group may still have.
        """
        kinds = self._kinds(pods)
        purchases = [
            purchase
            for index in groups
            if highs[index] > 0 and (purchase := self._fill(index, kinds, highs[index]))
        ]
        # Of equal ones the smaller nodes come first: they leave large pods pending, for
        # which only large nodes have room. Of equal groups, all grow alike.
        return sorted(
            purchases,
            key=lambda purchase: (
                -round(purchase.ratio, 2),
                self._weights[purchase.index],
                -highs[purchase.index],
            ),
        )

    def nodes_for_limits(
        self, trial: Trial, groups: Collection[int]
    ) -> tuple[int, int] | None:
        """Return the group, and the number of its nodes, that meet limits cheapest.

        Args:
            trial: A plan of which some resources are requested too much.
            groups: The groups to choose from.
        """
        choices = []
        for index in groups:
            nodes = [
                _nodes_for(limit, self._shapes.shapes[index].offered.get(name, 0))
                for name, limit in trial.missing.items()
            ]
            if nodes and None not in nodes:
                number = max(n for n in nodes if n is not None)
                choices.append((number * self._weights[index], index, number))
        return min(choices)[1:] if choices else None

    def _kinds(self, pods: Iterable[Pod]) -> list[_Kind]:
        kinds: dict[object, _Kind] = {}
        for pod in pods:
            amounts, takers = requested(pod), self._shapes.takers(pod)
            key = (tuple(sorted(amounts.items())), takers)
            kind = kinds.setdefault(key, _Kind(amounts, takers, 0))
            kind.count += 1
        return list(kinds.values())

    def _fill(self, index: int, kinds: Sequence[_Kind], most: int) -> Purchase | None:
        """Fill nodes of a group, as long as each places as much as the first one."""
        mine = [kind for kind in kinds if index in kind.takers]
        left = [kind.count for kind in mine]
        worths = [self._worth(kind) for kind in mine]
        first, nodes = 0.0, 0
        while nodes < most:
            taken = self._taken(index, mine, left)
            worth = sum(n * each for n, each in zip(taken, worths, strict=True))
            if not worth or worth < _SLACK * first:
                break
            first = first or worth
            # All nodes that the same pods fill are filled at once.
            alike = min(have // n for have, n in zip(left, taken, strict=True) if n)
            alike = min(alike, most - nodes)
            left = [have - n * alike for have, n in zip(left, taken, strict=True)]
            nodes += alike
        if not nodes:
            return None
        weight = self._weights[index]
        return Purchase(
            index=index,
            nodes=nodes,
            ratio=first / weight if weight else float("inf"),
        )

    def _taken(
        self, index: int, kinds: Sequence[_Kind], left: Sequence[int]
    ) -> list[int]:
        """Return how many pods of each kind an empty node takes, in their order."""
        shape = self._shapes.shapes[index]
        room = {
            name: shape.room(name)
            for name in {name for kind in kinds for name in kind.amounts}
        }
        taken = []
        for kind, count in zip(kinds, left, strict=True):
            fitting = min(
                (room[name] // size for name, size in kind.amounts.items() if size),
                default=count,
            )
            number = min(count, fitting)
            for name, size in kind.amounts.items():
                room[name] -= number * size
            taken.append(number)
        return taken

    def _worth(self, kind: _Kind) -> float:
        """Return the price of the room that a pod needs, where that is cheapest."""
        return min(
            self.fraction(kind.amounts, index) * max(self._weights[index], 1)
            for index in kind.takers
        )

    def fraction(self, amounts: Amounts, index: int) -> float:
        """Return the part of a node that a pod takes, of what is scarcest."""
        shape = self._shapes.shapes[index]
        return max(
            amount / room if (room := shape.room(name)) else 1.0
            for name, amount in amounts.items()
        )


def _nodes_for(missing: int, offer: int) -> int | None:
    """Return how many nodes offer what is missing; None if they offer none of it."""
    return max(1, -(-missing // offer)) if offer else None
