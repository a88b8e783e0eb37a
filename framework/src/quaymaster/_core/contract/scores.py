"""The range of scores, and the default normalisation."""

from typing import Final

import numpy as np

from quaymaster._core.state.arrays import Int64Array

__all__ = ["MAX_NODE_SCORE", "default_normalize"]

MAX_NODE_SCORE: Final = 100
"""The highest score after normalisation."""


def default_normalize(scores: Int64Array, *, reverse: bool = False) -> Int64Array:
    """Scale scores so that the highest becomes 100; zeros alone stay zeros.

    Mirrors ``DefaultNormalizeScore`` (Kubernetes v1.36,
    ``pkg/scheduler/framework/plugins/helper/normalize_score.go``).

    Args:
        scores: Shape ``(N,)``, dtype int64, none negative.
        reverse: Whether lower scores are better: results are then subtracted from 100.

    Returns:
        Shape ``(N,)``, dtype int64; it may be ``scores`` itself.
    """
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled: Int64Array = MAX_NODE_SCORE * scores // highest
    return MAX_NODE_SCORE - scaled if reverse else scaled
