"""Prints what a newer Kubernetes decides otherwise, and by which change."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from quaymaster._base.errors import counted
from quaymaster._base.versions.kubernetes import CHANGES
from quaymaster._cli.output import print_line, print_table
from quaymaster._studies.comparing.versions import ChangedDecision, VersionChanges
from quaymaster._studies.recording.compared import Decided

__all__ = ["change_documents", "changes_table", "csv_rows", "print_changes"]

PAGE: Final = "docs/reference/kubernetes-versions.md"
"""The page with a section for each change."""

_SHOWN: Final = 20
"""How many decisions are listed; all are in JSON and YAML."""
_UNKNOWN: Final = "(no change alone)"


def print_changes(found: VersionChanges) -> None:
    """Print the decisions that are made otherwise, and a line for each cause."""
    older, newer = found.older.version, found.newer.version
    made = [one for one in found.changed if not one.is_message]
    worded = len(found.changed) - len(made)
    name = f" with {found.configuration}" if found.configuration else ""
    total = counted(found.decisions, "decision")
    print_line(
        f"on the same state, {newer} makes {len(made)} of {total} otherwise than "
        f"{older}{name}, and words {worded} otherwise"
    )
    if made:
        columns, rows = _table(found, made[:_SHOWN])
        print_table(columns, rows, sentences=columns[1:])
        if len(made) > _SHOWN:
            print_line(f"and {len(made) - _SHOWN} more")
    if found.changed:
        print_line()
        causes = [
            (name, str(decisions), str(messages), _title(name), _page(name))
            for name, decisions, messages in _by_cause(found.changed)
        ]
        head = ("CAUSE", "DECISIONS", "MESSAGES", "WHAT CHANGES", "PAGE")
        print_table(head, causes, sentences=["WHAT CHANGES"])


def changes_table(
    found: VersionChanges,
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the columns and rows of all that is made or worded otherwise."""
    columns, rows = _table(found, found.changed)
    return tuple(map(str.capitalize, columns)), rows


def change_documents(found: Iterable[VersionChanges]) -> list[dict[str, Any]]:
    """Return the same as plain data, in the form of ``-o json``."""
    return [
        {
            "configuration": one.configuration,
            "older": str(one.older),
            "newer": str(one.newer),
            "decisions": one.decisions,
            "changed": [_document(each) for each in one.changed],
        }
        for one in found
    ]


def csv_rows(found: VersionChanges) -> Iterator[tuple[str, str]]:
    """Yield how many decisions each cause has, as names of figures and values."""
    for name, decisions, messages in _by_cause(found.changed):
        cause = "unknown" if name == _UNKNOWN else name
        yield f"changed.{cause}", str(decisions)
        yield f"reworded.{cause}", str(messages)


def _table(
    found: VersionChanges, changed: Sequence[ChangedDecision]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    columns = ("POD", found.older.version, found.newer.version, "CAUSE")
    rows = tuple(
        (one.pod, _told(one.older), _told(one.newer), ", ".join(_causes(one)))
        for one in changed
    )
    return columns, rows


def _told(one: Decided) -> str:
    if one.node:
        return one.node
    told = "(pending)"
    if one.nominated_node:
        victims = counted(len(one.victims), "victim")
        told = f"({one.nominated_node}, after {victims})"
    return f"{told} {one.message}".rstrip()


def _causes(one: ChangedDecision) -> tuple[str, ...]:
    return one.causes or (_UNKNOWN,)


def _by_cause(
    changed: Iterable[ChangedDecision],
) -> Iterator[tuple[str, int, int]]:
    """The causes with how many decisions and messages each of them changes."""
    counts: Counter[tuple[str, bool]] = Counter(
        (cause, one.is_message) for one in changed for cause in _causes(one)
    )
    names = {cause for cause, _ in counts}
    for name in (*CHANGES, _UNKNOWN):
        if name in names:
            yield name, counts[name, False], counts[name, True]


def _title(cause: str) -> str:
    if cause in CHANGES:
        return CHANGES[cause].title
    return "several changes together, or one that cannot be left out by itself"


def _page(cause: str) -> str:
    return f"{PAGE}#{cause}" if cause in CHANGES else PAGE


def _document(one: ChangedDecision) -> dict[str, Any]:
    return {
        "pod": one.pod,
        "at": one.at,
        "older": _decided(one.older),
        "newer": _decided(one.newer),
        "onlyMessage": one.is_message,
        "causes": [{"change": name, "page": _page(name)} for name in one.causes],
    }


def _decided(one: Decided) -> dict[str, Any]:
    return {
        "node": one.node,
        "message": one.message,
        "nominatedNode": one.nominated_node,
        "victims": list(one.victims),
    }
