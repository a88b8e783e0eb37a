"""How many nodes are removed at the same time, group by group.

Mirrors ``core/scaledown/budgets/budgets.go``.
"""

from collections.abc import Iterable, Mapping, Sequence

import attrs

from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup

__all__ = ["Batch", "cropped", "registered"]


@attrs.define
class Batch:
    """Nodes of a group that are removed together.

    Attributes:
        group: The group.
        nodes: The names of the nodes.
        size: How many nodes a group that goes at once has; 0 for other groups.
    """

    group: ScaledGroup
    nodes: list[str]
    size: int = 0


def cropped(
    empty: Iterable[str],
    draining: Iterable[str],
    cloud: Cloud,
    *,
    most: int,
    most_drains: int,
) -> tuple[list[Batch], list[Batch]]:
    """Return the nodes that are removed now, as many as may go at the same time.

    Groups that go at once come first. One of them may exceed the limits: a large one
    would otherwise never go.

    Args:
        empty: The nodes without pods that move.
        draining: The nodes with such pods.
        cloud: The groups.
        most: How many more nodes may be removed.
        most_drains: How many of them may have pods that move.
    """
    empties, drains = _batches(empty, cloud), _batches(draining, cloud)
    budget = _Budget(cloud, most, most_drains)
    for name, batch in _atomic(empties).items():
        other = drains.get(name)
        moving = len(other.nodes) if other else 0
        if not budget.has_room(len(batch.nodes), moving):
            break
        if budget.take(batch, moving):
            budget.empty.append(batch)
            if other:
                other.size = batch.size
                budget.draining.append(other)
    budget.drains = min(budget.nodes, budget.drains)
    for name, batch in _atomic(drains).items():
        if name in empties:
            continue
        if not budget.has_room(0, len(batch.nodes), only_drains=True):
            break
        if budget.take(batch, len(batch.nodes), is_drained=True):
            budget.draining.append(batch)
    budget.nodes -= _crop(empties, budget.empty, budget.nodes)
    _crop(drains, budget.draining, min(budget.nodes, budget.drains))
    return budget.empty, budget.draining


def registered(cloud: Cloud, group: str) -> int:
    """Return how many machines of a group have a node."""
    return sum(each.group == group and each.is_registered for each in cloud.instances())


@attrs.define
class _Budget:
    """What may still be removed, and what was chosen."""

    cloud: Cloud
    nodes: int
    drains: int
    may_exceed: bool = True
    empty: list[Batch] = attrs.field(factory=list)
    draining: list[Batch] = attrs.field(factory=list)

    def has_room(self, empty: int, moving: int, *, only_drains: bool = False) -> bool:
        """Return whether a group that goes at once may go now."""
        if self.drains >= moving and (only_drains or self.nodes >= empty + moving):
            return True
        is_used_up = bool(moving) and self.drains == 0
        is_used_up |= not only_drains and self.nodes == 0
        return self.may_exceed and not is_used_up

    def take(self, batch: Batch, moving: int, *, is_drained: bool = False) -> bool:
        """Count a group that goes at once, if all of its nodes can go."""
        target = self.cloud.sizes[batch.group.name]
        there = registered(self.cloud, batch.group.name)
        # Machines that never registered do not keep the others.
        batch.size = there if len(batch.nodes) == there else target
        count = moving if is_drained else len(batch.nodes) + moving
        if count not in (target, there):
            return False
        self.nodes -= count
        self.drains -= moving
        self.may_exceed = False
        return True


def _batches(names: Iterable[str], cloud: Cloud) -> dict[str, Batch]:
    batches: dict[str, Batch] = {}
    for name in names:
        group = cloud.group_of(name)
        if group is not None:
            batches.setdefault(group.name, Batch(group, [])).nodes.append(name)
    return batches


def _atomic(batches: Mapping[str, Batch]) -> Mapping[str, Batch]:
    return {name: each for name, each in batches.items() if each.group.zero_or_max}


def _crop(batches: Mapping[str, Batch], chosen: list[Batch], most: int) -> int:
    """Choose nodes of the other groups; return how many."""
    left = most
    others: Sequence[Batch] = [
        each for each in batches.values() if not each.group.zero_or_max
    ]
    for batch in others:
        if left < 1:
            break
        del batch.nodes[left:]
        chosen.append(batch)
        left -= len(batch.nodes)
    return most - left
