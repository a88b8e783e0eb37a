"""Prints the changes that place pods, and why many pods have no node."""

from collections.abc import Sequence
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.output import print_command, print_line
from quaymaster._cli.pending_facts import PodsWithFacts, print_facts
from quaymaster._cli.tables import Fit
from quaymaster._studies.why.change_lists import (
    change_lines,
    effect_text,
    groups_by_change,
    pods_of,
    remarks_of,
    shared_remarks,
)
from quaymaster._studies.why.changes import FieldChange, SuggestedChange
from quaymaster._studies.why.pending_groups import (
    Cause,
    CauseCount,
    PendingGroup,
    PendingSummary,
)
from quaymaster._studies.why.suggestions import Suggestions

__all__ = [
    "print_group_suggestions",
    "print_suggestions",
    "print_suggestions_csv",
    "print_summary",
    "print_summary_csv",
    "suggestions_document",
    "summary_document",
]

_CAUSES: Final = 4
"""How many causes of a group are printed; every node may have its own."""

_CHANGE_KEYS: Final = ("kinds", "text", "command", "placed", "evicted", "fields")


def print_suggestions(suggestions: Suggestions) -> None:
    """Print the changes that would place a pod, the smallest first."""
    print_line()
    if not suggestions.pending:
        print_line("it has a node: no change is needed")
        return
    for remark in suggestions.remarks:
        print_line(remark)
    whole = f"the {suggestions.pending} pods of {suggestions.subject} that have no node"
    _print_tried(
        suggestions,
        f"what would place {whole if suggestions.pending > 1 else suggestions.pod}:",
    )


def print_group_suggestions(suggestions: Suggestions) -> None:
    """Print the changes with which a PodGroup fits, the smallest first."""
    print_line()
    for remark in suggestions.remarks:
        print_line(remark)
    if suggestions.candidates:
        _print_tried(suggestions, f"what would make {suggestions.subject} fit:")
    elif not suggestions.pending:
        print_line("all its pods have a node: no change is needed")
    elif not suggestions.remarks:
        print_line("no change can be tried")


def _print_tried(suggestions: Suggestions, heading: str) -> None:
    print_line(heading)
    if not suggestions.changes:
        tried = counted(suggestions.candidates, "change")
        print_line(f"  no tried change: {tried}, and pairs of them")
    elif len(suggestions.changes[0].kinds) > 1:
        print_line("  no single change, but two together:")
    for number, change in enumerate(suggestions.changes, 1):
        _print_change(f"{number}. ", change)
    print_line(
        f"tried in {counted(suggestions.trials, 'simulation')} of the whole input"
    )
    if not suggestions.is_complete:
        _print_incomplete()


def _print_incomplete() -> None:
    print_line("not all changes were tried; --max-trials N tries more")


def _print_change(head: str, change: SuggestedChange) -> None:
    print_line(f"{head}{change.text}{_effects(change)}")
    _print_lines(change, " " * len(head))


def _print_lines(change: SuggestedChange, indent: str) -> None:
    """Print how to make a change: its command, or its fields."""
    # A command can be pasted only if it is not folded.
    print_text_line = print_command if change.command else print_line
    for line in change_lines(change):
        print_text_line(f"{indent}{line}")


def _effects(change: SuggestedChange) -> str:
    text = effect_text(change)
    return f" ({text})" if text else ""


def print_summary(summary: PendingSummary, *, suggested: bool) -> None:
    """Print why many pods have no node.

    Args:
        summary: The pods.
        suggested: Whether changes were searched for.
    """
    if not summary.groups:
        print_line("no pod is pending")
        return
    _GROUPS.print(summary.groups)
    print_line()
    kept = f"; {summary.kept} had a node in the input" if summary.kept else ""
    print_line(
        f"{counted(summary.pods, 'pod')} pending, {summary.placed} placed on "
        f"{counted(summary.nodes, 'node')}{kept}"
    )
    _print_causes(summary.causes)
    print_facts(
        PodsWithFacts(
            subject=f"{group.namespace}/{group.subject}",
            pods=len(group.pods),
            facts=group.facts,
        )
        for group in summary.groups
    )
    if suggested:
        _print_changes(summary)


def _print_causes(causes: Sequence[CauseCount]) -> None:
    """Print how many pods each cause affects, and how many its removal helps."""
    print_line()
    _COUNTS.print(causes[: 2 * _CAUSES])
    if len(causes) > 2 * _CAUSES:
        print_line(f"and {len(causes) - 2 * _CAUSES} more")


def _print_changes(summary: PendingSummary) -> None:
    print_line()
    by_change = groups_by_change(summary.groups)
    shared = shared_remarks(by_change)
    for each in by_change:
        if each.change is None:
            print_line(f"{pods_of(each.groups)}: no tried change places all of them")
        else:
            effects = _effects(each.change)
            print_line(f"{pods_of(each.groups)}: {each.change.text}{effects}")
            _print_lines(each.change, "  ")
        for remark in remarks_of(each.groups):
            if remark not in shared:
                print_line(f"  {remark}")
    for remark, groups in shared.items():
        print_line(f"{pods_of(groups)}: {remark}")
    print_line(f"tried in {counted(summary.trials, 'simulation')} of the whole input")
    if not summary.is_complete:
        _print_incomplete()


def _causes(causes: Sequence[Cause]) -> str:
    shown = [
        _reason(cause.plugin, cause.reason)
        + (f" ({counted(cause.nodes, 'node')})" if cause.nodes else "")
        for cause in causes[:_CAUSES]
    ]
    if len(causes) > _CAUSES:
        shown.append(f"and {counted(len(causes) - _CAUSES, 'cause')} more")
    return "; ".join(shown)


def _reason(plugin: str, reason: str) -> str:
    return f"{plugin}: {reason}" if plugin else reason


def print_suggestions_csv(suggestions: Suggestions) -> None:
    """Print a line of CSV for each change."""
    print_csv([_change(change) for change in suggestions.changes], _CHANGE_KEYS)


def suggestions_document(suggestions: Suggestions) -> dict[str, object]:
    """The changes as plain data, in the form of ``-o json``."""
    return {
        "subject": suggestions.subject,
        "namespace": suggestions.namespace,
        "pending": suggestions.pending,
        "changes": [_change(change) for change in suggestions.changes],
        "candidates": suggestions.candidates,
        "trials": suggestions.trials,
        "complete": suggestions.is_complete,
        "remarks": list(suggestions.remarks),
    }


def _change(change: SuggestedChange) -> dict[str, object]:
    return {
        "kinds": [kind.value for kind in change.kinds],
        "text": change.text,
        "command": change.command,
        "placed": change.placed,
        "evicted": change.evicted,
        "fields": _FIELDS.documents(change.fields),
    }


def print_summary_csv(summary: PendingSummary) -> None:
    """Print a line of CSV for each group of pending pods."""
    _GROUPS.print_csv(summary.groups)


def summary_document(summary: PendingSummary) -> dict[str, object]:
    """The summary as plain data, in the form of ``-o json``."""
    return {
        "groups": _GROUPS.documents(summary.groups),
        "causes": _COUNTS.documents(summary.causes),
        "pending": summary.pods,
        "placed": summary.placed,
        "kept": summary.kept,
        "nodes": summary.nodes,
        "trials": summary.trials,
        "complete": summary.is_complete,
    }


_CAUSE: Final = Columns[Cause]("plugin", "reason", "nodes", "alone")

_COUNTS: Final = Columns[CauseCount](
    Column("helped", heading="Helps"),
    Column("pods"),
    Column(
        heading="Cause",
        value=lambda cause: _reason(cause.plugin, cause.reason),
        fit=Fit.MESSAGE,
    ),
    Column("plugin", shown=Shown.NEVER),
    Column("reason", shown=Shown.NEVER),
)

_GROUPS: Final = Columns[PendingGroup](
    Column("pods", text=len),
    Column("namespace", fit=Fit.NAME, importance=1),
    Column("subject", heading="Workload", fit=Fit.NAME),
    *("scheduler", "reason", "message"),
    Column(heading="Cause", value=lambda group: _causes(group.causes), fit=Fit.MESSAGE),
    Column(
        "causes",
        value=lambda group: _CAUSE.documents(group.causes),
        shown=Shown.NEVER,
    ),
    Column(
        "change",
        value=lambda group: _change(group.change) if group.change else None,
        shown=Shown.NEVER,
    ),
    *("remarks", "facts"),
)

_FIELDS: Final = Columns[FieldChange]("object", "namespace", "path", "old", "new")
