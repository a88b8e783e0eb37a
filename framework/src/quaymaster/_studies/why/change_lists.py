"""Puts suggested changes into words: effects, commands, and for which pods."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

import attrs

from quaymaster._base.errors import counted, listed
from quaymaster._studies.why.changes import FieldChange, SuggestedChange
from quaymaster._studies.why.pending_groups import PendingGroup

__all__ = [
    "ChangeGroups",
    "change_lines",
    "effect_text",
    "groups_by_change",
    "pods_of",
    "remarks_of",
    "shared_remarks",
]

_FIELDS_SHOWN: Final = 4
"""How many fields of a change are printed: a change may add many equal nodes."""
_OWNERS_SHOWN: Final = 4


@attrs.frozen(eq=False)
class ChangeGroups:
    """A change with the groups of pods that it places.

    Attributes:
        change: The change; None for the groups that no tried change places.
        groups: The groups.
    """

    change: SuggestedChange | None
    groups: tuple[PendingGroup, ...]

    @property
    def pods(self) -> int:
        """How many pods the groups have."""
        return sum(len(group.pods) for group in self.groups)


def change_lines(change: SuggestedChange) -> list[str]:
    """Return how to make a change: its command, or its fields."""
    if change.command:
        return [change.command]
    lines = list(map(_field, change.fields[:_FIELDS_SHOWN]))
    more = len(change.fields) - _FIELDS_SHOWN
    return [*lines, f"and {more} more"] if more > 0 else lines


def _field(field: FieldChange) -> str:
    namespace = f" -n {field.namespace}" if field.namespace else ""
    where = f"{field.object}{namespace}"
    if not field.path:
        return f"{where}: {field.new}"
    old, new = field.old or "(none)", field.new or "(none)"
    return f"{where}: {field.path}: {old} -> {new}"


def effect_text(change: SuggestedChange) -> str:
    """Return the effects of a change beside its purpose, or an empty text."""
    effects = []
    if change.placed > 1:
        effects.append(f"places {change.placed} pods")
    if change.evicted:
        evicted = counted(change.evicted, "pod")
        effects.append(f"takes the place of {evicted} of lower priority")
    return ", ".join(effects)


def groups_by_change(groups: Iterable[PendingGroup]) -> list[ChangeGroups]:
    """Return each change with the groups that it places, those without one last."""
    together: dict[int, list[PendingGroup]] = {}
    for group in groups:
        # Identity: groups that one change places have the same object.
        together.setdefault(id(group.change), []).append(group)
    answers = [
        ChangeGroups(members[0].change, tuple(members)) for members in together.values()
    ]
    return sorted(answers, key=lambda each: (each.change is None, -each.pods))


def remarks_of(groups: Iterable[PendingGroup]) -> list[str]:
    """Return the remarks about some groups, each once."""
    return list(dict.fromkeys(chain(*(group.remarks for group in groups))))


def shared_remarks(changes: Iterable[ChangeGroups]) -> dict[str, list[PendingGroup]]:
    """Return the remarks about groups of several changes, with all their groups."""
    owners: dict[str, list[PendingGroup]] = {}
    counts: Counter[str] = Counter()
    for each in changes:
        counts.update(remarks_of(each.groups))
        for group in each.groups:
            for remark in group.remarks:
                owners.setdefault(remark, []).append(group)
    return {remark: groups for remark, groups in owners.items() if counts[remark] > 1}


def pods_of(groups: Sequence[PendingGroup]) -> str:
    """Name some groups: how many pods of which workloads."""
    pods = counted(sum(len(group.pods) for group in groups), "pod")
    names = list(dict.fromkeys(f"{each.namespace}/{each.subject}" for each in groups))
    if len(names) == 1:
        return f"{pods} of {groups[0].subject}"
    shown = listed(names, _OWNERS_SHOWN)
    return f"{pods} of {counted(len(names), 'workload')} ({shown})"
