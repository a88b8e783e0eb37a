"""Suggested changes as plain data: what a page shows beside the causes."""

from collections.abc import Iterable, Mapping

from quaymaster._studies.why.change_lists import (
    ChangeGroups,
    change_lines,
    effect_text,
    groups_by_change,
    remarks_of,
    shared_remarks,
)
from quaymaster._studies.why.pending_groups import PendingGroup, PendingSummary

__all__ = ["suggestions_document"]


def suggestions_document(summary: PendingSummary) -> dict[str, object]:
    """Return what a page shows of the changes that place pending pods.

    Args:
        summary: The summary, for which changes were searched.
    """
    by_change = groups_by_change(summary.groups)
    shared = shared_remarks(by_change)
    return {
        "changes": [_change(each, shared) for each in by_change],
        "remarks": [[remark, _keys(groups)] for remark, groups in shared.items()],
        "trials": summary.trials,
        "complete": summary.is_complete,
    }


def _change(each: ChangeGroups, shared: Mapping[str, object]) -> dict[str, object]:
    change = each.change
    return {
        "text": change.text if change is not None else "",
        "effect": effect_text(change) if change is not None else "",
        "lines": change_lines(change) if change is not None else [],
        "pods": _keys(each.groups),
        "remarks": [text for text in remarks_of(each.groups) if text not in shared],
    }


def _keys(groups: Iterable[PendingGroup]) -> list[str]:
    return [pod for group in groups for pod in group.pods]
