"""Means over several seeds, with their confidence intervals."""

import math
from collections.abc import Sequence
from typing import Final

import attrs

__all__ = ["Estimate", "estimate"]

# Student's t for 95 %, two-sided, by degrees of freedom: from 1 to 30, then coarser.
_T: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_BEYOND: Final = ((40, 2.042), (60, 2.021), (120, 2.000), (math.inf, 1.980))
"""Highest degrees of freedom, and the t of the next smaller entry of a table.

So an interval may be too wide, but never too narrow.
"""


@attrs.frozen(kw_only=True)
class Estimate:
    """A mean over seeds.

    Attributes:
        mean: The mean.
        half_width: Half of the width of its 95 % confidence interval, by Student's t;
            None with a single seed.
    """

    mean: float
    half_width: float | None = None

    @property
    def is_certain(self) -> bool:
        """Whether the interval excludes zero; always False with a single seed."""
        return self.half_width is not None and abs(self.mean) > self.half_width


def estimate(values: Sequence[float]) -> Estimate:
    """Estimate the mean of at least one value."""
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean=mean)
    squares = math.fsum((value - mean) ** 2 for value in values)
    deviation = math.sqrt(squares / (count - 1))
    return Estimate(
        mean=mean, half_width=_student(count - 1) * deviation / math.sqrt(count)
    )


def _student(degrees: int) -> float:
    if degrees <= len(_T):
        return _T[degrees - 1]
    return next(t for limit, t in _BEYOND if degrees <= limit)
