"""Prints the effects of changes on PodGroups."""

from typing import Final

from quaymaster._cli.columns import Column, Columns
from quaymaster._cli.output import print_line
from quaymaster._studies.planning.group_effects import GroupEffect, GroupFate
from quaymaster._studies.planning.what_if_results import WhatIfResult

__all__ = ["GROUP_EFFECTS", "group_effects_table", "print_group_effects"]

GROUP_EFFECTS: Final = Columns[GroupEffect](
    Column("group", heading="PodGroup"),
    Column("fate", value=lambda effect: effect.fate.value),
    Column("before"),
    Column("after"),
    Column("pods"),
    Column("minCount"),
    Column("message"),
)

_VERBS: Final = {
    GroupFate.WHOLE: "stays whole",
    GroupFate.REDUCED: "keeps its quorum",
    GroupFate.BROKEN: "breaks",
    GroupFate.FORMED: "has its quorum now",
}


def print_group_effects(result: WhatIfResult) -> None:
    """Print a line for each PodGroup that a change touches."""
    is_first = True
    for step in result.steps:
        for effect in step.groups:
            if is_first:
                print_line()
            is_first = False
            print_line(f"{step.change}: {_sentence(effect)}")


def _sentence(effect: GroupEffect) -> str:
    text = (
        f"podgroup {effect.group} {_VERBS[effect.fate]}: {effect.after} of its pods "
        f"have a node, {effect.before} had one"
    )
    if effect.min_count is not None:
        text += f", minCount {effect.min_count}"
    return f"{text}; {effect.message}" if effect.message else text


def group_effects_table(result: WhatIfResult) -> tuple[list[str], list[list[str]]]:
    """Return the columns of a page, and a row for each PodGroup and change."""
    columns = ["Change", "PodGroup", "Effect", "With a node", "Before", "Quorum"]
    rows = [
        [
            step.change,
            effect.group,
            _VERBS[effect.fate],
            str(effect.after),
            str(effect.before),
            "-" if effect.min_count is None else str(effect.min_count),
        ]
        for step in result.steps
        for effect in step.groups
    ]
    return columns, rows
