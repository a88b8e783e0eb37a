"""The effect of a change on PodGroups: which stay whole, and which break."""

import enum
from collections.abc import Collection, Iterable, Mapping

import attrs

from quaymaster._studies.simulation.explained_groups import ExplainedGroup

__all__ = ["GroupEffect", "GroupFate", "group_effects"]


class GroupFate(enum.StrEnum):
    """What a change does to a group."""

    WHOLE = "whole"
    """Its quorum was met before and is met after, by all pods that it had."""

    REDUCED = "reduced"
    """Its quorum is still met, with fewer pods on nodes than before."""

    BROKEN = "broken"
    """Its quorum was met before, and is not met after."""

    FORMED = "formed"
    """Its quorum was not met before, and is met after."""


@attrs.frozen(kw_only=True)
class GroupEffect:
    """What a change does to one group.

    Attributes:
        group: ``namespace/name`` of the PodGroup.
        fate: The result.
        before: How many of its pods had a node before.
        after: How many of its pods have one after.
        pods: How many pods it has after.
        min_count: The pods that must run together; None without a gang policy.
        message: What it waits for, or why it does not fit.
    """

    group: str
    fate: GroupFate
    before: int
    after: int
    pods: int
    min_count: int | None
    message: str = ""


def group_effects(
    before: Iterable[ExplainedGroup],
    after: Iterable[ExplainedGroup],
    touched: Collection[str],
) -> tuple[GroupEffect, ...]:
    """Return the effects of a change on the groups that it touches, by key.

    Args:
        before: The groups before the change.
        after: The groups after it.
        touched: The keys of the pods that lost their node, or were deleted.
    """
    earlier = {group.group: group for group in before}
    later = {group.group: group for group in after}
    effects = (
        _effect(key, earlier, later, touched)
        for key in dict.fromkeys([*earlier, *later])
    )
    return tuple(effect for effect in effects if effect is not None)


def _effect(
    key: str,
    earlier: Mapping[str, ExplainedGroup],
    later: Mapping[str, ExplainedGroup],
    touched: Collection[str],
) -> GroupEffect | None:
    old, new = earlier.get(key), later.get(key)
    had = _has_quorum(old)
    has = _has_quorum(new)
    placed_before = 0 if old is None else old.placed
    placed_after = 0 if new is None else new.placed
    is_touched = old is not None and any(
        member.pod in touched for member in old.members
    )
    if had and not has:
        fate = GroupFate.BROKEN
    elif has and not had:
        fate = GroupFate.FORMED
    elif not has or not (is_touched or placed_after < placed_before):
        return None
    else:
        is_whole = placed_after >= placed_before
        fate = GroupFate.WHOLE if is_whole else GroupFate.REDUCED
    group = new or old
    return GroupEffect(
        group=key,
        fate=fate,
        before=placed_before,
        after=placed_after,
        pods=0 if new is None else len(new.members),
        min_count=None if group is None else group.min_count,
        message="" if new is None or has else new.message,
    )


def _has_quorum(group: ExplainedGroup | None) -> bool:
    return group is not None and group.placed >= (group.min_count or 1)
