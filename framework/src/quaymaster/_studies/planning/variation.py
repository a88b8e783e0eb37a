"""Varies a plan: nodes of one group replace nodes of other groups."""

from collections.abc import Iterator, Sequence

from quaymaster._studies.planning.question import Counts

__all__ = ["variations"]


def variations(
    counts: Counts, weights: Sequence[int], lows: Counts, highs: Counts, most: int
) -> Iterator[Counts]:
    """Yield variants of a plan in which nodes of one group replace other nodes.

    Each other group loses one node, or a quarter, half or all of its nodes.

    Args:
        counts: The plan that is varied.
        weights: What one node of each group weighs.
        lows: The fewest nodes of each group.
        highs: The most nodes of each group.
        most: The highest weight of the plans.
    """
    spare = [count - low for count, low in zip(counts, lows, strict=True)]
    for given in (
        [min(1, nodes) for nodes in spare],
        [-(-nodes // 4) for nodes in spare],
        [-(-nodes // 2) for nodes in spare],
        spare,
    ):
        for index, weight in enumerate(weights):
            plan = [count - gone for count, gone in zip(counts, given, strict=True)]
            plan[index] = 0
            taken = sum(n * each for n, each in zip(plan, weights, strict=True))
            plan[index] = min(highs[index], (most - taken) // weight)
            if plan[index] >= lows[index]:
                yield tuple(plan)
