"""The score of a load: best at a target, falling steeply above it.

Mirrors ``Score`` in ``targetloadpacking.go`` (sigs.k8s.io/scheduler-plugins v0.34.7,
``pkg/trimaran/targetloadpacking``).
"""

import numpy as np
from quaymaster import Int64Array
from quaymaster.columns import Float64Array

__all__ = ["score", "scores"]

# The largest number below a half: what is a half exactly still rounds up with it, and
# nothing else does, as by Go's math.Round.
_HALF = 0.49999999999999994


def score(percent: float, target: int) -> int:
    """Return the score of a load, 0 to 100.

    Args:
        percent: The load; below 0 is like 0.
        target: The load with the score of 100.
    """
    percent = max(percent, 0.0)
    if percent > 100:
        return 0
    if percent > target:
        return int(target * (100 - percent) / (100 - target) + _HALF)
    return int((100 - target) * percent / target + target + _HALF)


def scores(percent: Float64Array, target: int) -> Int64Array:
    """Return the scores of many loads; see `score`.

    Args:
        percent: The loads, shape ``(N,)``.
        target: The load with the score of 100.
    """
    percent = np.maximum(percent, 0.0)
    above = target * (100 - percent) / (100 - target) + _HALF
    below = (100 - target) * percent / target + target + _HALF
    found = np.where(percent > target, above, below)
    return np.where(percent > 100, 0, found).astype(np.int64)
