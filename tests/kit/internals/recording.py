"""What tests see of ``quaymaster._recording``."""

from quaymaster._recording.files import RecordFile, is_record
from quaymaster._recording.lines import (
    Added,
    Begin,
    Deleted,
    End,
    Line,
    Modified,
    Reached,
    Template,
)
from quaymaster._recording.patches import merge_patch, patched

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

JUDGE = "quaymaster._recording.judge.Judge.decide"
"""What makes a decision of a record again."""
