"""Shares new nodes among similar groups.

Mirrors ``BalanceScaleUpBetweenGroups``
(``processors/nodegroupset/balancing_processor.go``).
"""

from collections.abc import Mapping, Sequence

import attrs

__all__ = ["Resize", "balanced"]


@attrs.define
class Resize:
    """A change of a group's size.

    Attributes:
        group: The name of the group.
        size: Its size before.
        new_size: Its size afterwards.
        max_size: Its largest size.
    """

    group: str
    size: int
    new_size: int
    max_size: int

    @property
    def more(self) -> int:
        """How many nodes it gets."""
        return self.new_size - self.size

    def __str__(self) -> str:
        return f"{{{self.group} {self.size}->{self.new_size} (max: {self.max_size})}}"


def balanced(
    groups: Sequence[str],
    sizes: Mapping[str, int],
    max_sizes: Mapping[str, int],
    nodes: int,
) -> list[Resize]:
    """Add nodes one by one to the smallest group that is not full.

    Args:
        groups: The groups.
        sizes: Their sizes.
        max_sizes: Their largest sizes.
        nodes: The number of new nodes; only those that have room are added.

    Returns:
        The groups that grow.
    """
    resizes = [
        Resize(name, sizes[name], sizes[name], max_sizes[name])
        for name in groups
        if sizes[name] != max_sizes[name]
    ]
    resizes.sort(key=lambda each: each.size)
    room = sum(max(0, each.max_size - each.size) for each in resizes)
    for _ in range(min(nodes, room)):
        smallest = min(
            (each for each in resizes if each.new_size < each.max_size),
            key=lambda each: each.new_size,
        )
        smallest.new_size += 1
    return [each for each in resizes if each.more]
