"""What tests see of ``quaymaster._studies.recording``."""

from quaymaster._studies.recording.files import RecordFile, is_record
from quaymaster._studies.recording.lines import (
    Added,
    Begin,
    Deleted,
    End,
    Line,
    Modified,
    Reached,
    Template,
)
from quaymaster._studies.recording.patches import merge_patch, patched

__all__ = [
    "JUDGE",
    "Added",
    "Begin",
    "Deleted",
    "End",
    "Line",
    "Modified",
    "Reached",
    "RecordFile",
    "Template",
    "is_record",
    "merge_patch",
    "patched",
]

JUDGE = "quaymaster._studies.recording.judge.Judge.decide"
"""Repeats a decision of a record."""
