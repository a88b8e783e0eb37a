"""Scale sums of weights to scores from 0 to 100.

Mirrors ``NormalizeScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/interpodaffinity/scoring.go``).
"""

import functools
from typing import Final

import numpy as np

from quaymaster import MAX_NODE_SCORE, Int64Array
from quaymaster.columns import Float64Array

__all__ = ["scale", "scale_one"]

# Up to this span, scaled scores are looked up in a table. Without tables, a
# decision of SchedulingPreferredPodAffinity takes 1.09 times as long. Making a
# table for a span of 2,048 takes as long as scaling 5,000 scores without one.
_FEW_SCORES: Final = 512


def scale(above: Int64Array, span: int) -> Int64Array:
    """Scale sums so that the lowest becomes 0 and the highest 100.

    Args:
        above: Shape ``(N,)``: the difference of each sum from the lowest.
        span: The difference of the highest; with 0 all scores are 0.
    """
    if span <= _FEW_SCORES:
        return _scaled(span).take(above)
    return _scale(above, span)


def scale_one(above: int, span: int) -> int:
    """Scale one sum as `scale` does; the span is not 0."""
    # Divided first and then multiplied, as in ``NormalizeScore``
    # (interpodaffinity/scoring.go). The other order rounds differently: 29 of 50 would
    # be 58 and not 57.
    return int(above / span * float(MAX_NODE_SCORE))


@functools.lru_cache(maxsize=_FEW_SCORES)
def _scaled(span: int) -> Int64Array:
    """Make the table of the scores of 0 to the span."""
    return _scale(np.arange(span + 1, dtype=np.int64), max(span, 1))


def _scale(above: Int64Array, span: int) -> Int64Array:
    shares: Float64Array = np.true_divide(above, span)
    shares *= float(MAX_NODE_SCORE)
    return shares.astype(np.int64)
