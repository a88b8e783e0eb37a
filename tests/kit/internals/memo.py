"""What tests see of ``quaymaster._memo``."""

from quaymaster._memo import filter_memo, filters, remember, score_memo
from quaymaster._memo.score_memo import ScoreMemo
from quaymaster._memo.signatures import Signatures
from quaymaster._state.row_log import FEW_ROWS

__all__ = [
    "FEWEST_SIGNATURES",
    "FEW_ROWS",
    "REMEMBERED_BYTES",
    "ScoreMemo",
    "Signatures",
    "remember",
    "set_few_rows",
]

REMEMBERED_BYTES = "quaymaster._memo.signatures._BYTES"
"""How much may be remembered."""

FEWEST_SIGNATURES = "quaymaster._memo.signatures._FEWEST"
"""How many signatures are always remembered."""


def set_few_rows(count: int) -> None:
    """Have so many moved rows judged one by one, and more of them as arrays."""
    for holder in (filter_memo, filters, score_memo):
        vars(holder)["FEW_ROWS"] = count
