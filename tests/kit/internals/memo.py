"""What tests see of ``quaymaster._core.memo``."""

from quaymaster._core.memo import remember
from quaymaster._core.memo.score_memo import ScoreMemo
from quaymaster._core.memo.signatures import Signatures
from quaymaster._core.state import row_log
from quaymaster._core.state.row_log import FEW_ROWS

__all__ = [
    "FEWEST_SIGNATURES",
    "FEW_ROWS",
    "REMEMBERED_BYTES",
    "ScoreMemo",
    "Signatures",
    "remember",
    "set_few_rows",
]

REMEMBERED_BYTES = "quaymaster._core.memo.signatures._BYTES"
"""The size limit of the cache."""

FEWEST_SIGNATURES = "quaymaster._core.memo.signatures._FEWEST"
"""The number of signatures that are always cached."""


def set_few_rows(count: int) -> None:
    """Set how many changed rows are judged one by one; more of them as arrays."""
    for name, value in (("FEW_ROWS", count), ("_MOST_NOTES", 4 * count)):
        assert name in vars(row_log)
        vars(row_log)[name] = value
