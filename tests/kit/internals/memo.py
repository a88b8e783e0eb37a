"""What tests see of ``quaymaster._memo``."""

from quaymaster._memo import filter_memo, filters, remember, score_memo, signatures
from quaymaster._memo.score_memo import ScoreMemo
from quaymaster._memo.signatures import Signatures

__all__ = [
    "ScoreMemo",
    "Signatures",
    "filter_memo",
    "filters",
    "remember",
    "score_memo",
    "signatures",
]
