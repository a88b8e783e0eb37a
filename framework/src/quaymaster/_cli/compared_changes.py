"""Prints the decisions that a newer Kubernetes makes differently, with causes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from quaymaster._base.errors import counted
from quaymaster._base.versions.kubernetes import CHANGES
from quaymaster._cli.output import print_line, print_table
from quaymaster._cli.tables import Fit, Heading
from quaymaster._studies.comparing.versions import ChangedDecision, VersionChanges
from quaymaster._studies.recording.compared import Decided

__all__ = ["change_documents", "changes_table", "csv_rows", "print_changes"]

PAGE: Final = "docs/reference/kubernetes-versions.md"
"""The page with a section for each change."""

_SHOWN: Final = 20
"""How many decisions are listed; all are in JSON and YAML."""
_UNKNOWN: Final = "(no change alone)"


def print_changes(changes: VersionChanges) -> None:
    """Print the decisions that differ, and a line for each cause."""
    older, newer = changes.older.version, changes.newer.version
    placements = [decision for decision in changes.changed if not decision.is_message]
    worded = len(changes.changed) - len(placements)
    name = f" with {changes.configuration}" if changes.configuration else ""
    total = counted(changes.decisions, "decision")
    print_line(
        f"on the same state, {newer} makes {len(placements)} of {total} differently "
        f"from {older}{name}, and words {worded} differently"
    )
    if placements:
        columns, rows = _table(changes, placements[:_SHOWN])
        heads = [Heading(columns[0], Fit.NAME)]
        heads += [Heading(column, Fit.SENTENCE) for column in columns[1:]]
        print_table(heads, rows)
        if len(placements) > _SHOWN:
            print_line(f"and {len(placements) - _SHOWN} more")
    if changes.changed:
        print_line()
        causes = [
            (name, str(decisions), str(messages), _title(name), _page(name))
            for name, decisions, messages in _by_cause(changes.changed)
        ]
        print_table(
            (
                *("CAUSE", "DECISIONS", "MESSAGES"),
                Heading("WHAT CHANGES", Fit.SENTENCE),
                Heading("PAGE", importance=0),
            ),
            causes,
        )


def changes_table(
    changes: VersionChanges,
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the columns and rows of the decisions and messages that differ."""
    columns, rows = _table(changes, changes.changed)
    return tuple(map(str.capitalize, columns)), rows


def change_documents(changes: Iterable[VersionChanges]) -> list[dict[str, Any]]:
    """Return the comparisons as plain data, in the form of ``-o json``."""
    return [
        {
            "configuration": comparison.configuration,
            "older": str(comparison.older),
            "newer": str(comparison.newer),
            "decisions": comparison.decisions,
            "changed": [_document(each) for each in comparison.changed],
        }
        for comparison in changes
    ]


def csv_rows(changes: VersionChanges) -> Iterator[tuple[str, str]]:
    """Yield the number of decisions of each cause, as name and value of a figure."""
    for name, decisions, messages in _by_cause(changes.changed):
        cause = "unknown" if name == _UNKNOWN else name
        yield f"changed.{cause}", str(decisions)
        yield f"reworded.{cause}", str(messages)


def _table(
    changes: VersionChanges, changed: Sequence[ChangedDecision]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    columns = ("POD", changes.older.version, changes.newer.version, "CAUSE")
    rows = tuple(
        (
            decision.pod,
            _outcome(decision.older),
            _outcome(decision.newer),
            ", ".join(_causes(decision)),
        )
        for decision in changed
    )
    return columns, rows


def _outcome(decided: Decided) -> str:
    if decided.node:
        return decided.node
    outcome = "(pending)"
    if decided.nominated_node:
        victims = counted(len(decided.victims), "victim")
        outcome = f"({decided.nominated_node}, after {victims})"
    return f"{outcome} {decided.message}".rstrip()


def _causes(decision: ChangedDecision) -> tuple[str, ...]:
    return decision.causes or (_UNKNOWN,)


def _by_cause(
    changed: Iterable[ChangedDecision],
) -> Iterator[tuple[str, int, int]]:
    """The causes with how many decisions and messages each of them changes."""
    counts: Counter[tuple[str, bool]] = Counter(
        (cause, decision.is_message)
        for decision in changed
        for cause in _causes(decision)
    )
    names = {cause for cause, _ in counts}
    for name in (*CHANGES, _UNKNOWN):
        if name in names:
            yield name, counts[name, False], counts[name, True]


def _title(cause: str) -> str:
    if cause in CHANGES:
        return CHANGES[cause].title
    return "several changes together, or one that cannot be reverted alone"


def _page(cause: str) -> str:
    return f"{PAGE}#{cause}" if cause in CHANGES else PAGE


def _document(decision: ChangedDecision) -> dict[str, Any]:
    return {
        "pod": decision.pod,
        "at": decision.at,
        "older": _decided(decision.older),
        "newer": _decided(decision.newer),
        "onlyMessage": decision.is_message,
        "causes": [{"change": name, "page": _page(name)} for name in decision.causes],
    }


def _decided(decided: Decided) -> dict[str, Any]:
    return {
        "node": decided.node,
        "message": decided.message,
        "nominatedNode": decided.nominated_node,
        "victims": list(decided.victims),
    }
