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
