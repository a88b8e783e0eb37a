"""Student's t distribution, for intervals and for paired comparisons.

The probability is a regularised incomplete beta function, computed by its continued
fraction (Lentz' method); the quantile is found by bisection of it.
"""

import math
from typing import Final

__all__ = ["t_quantile", "two_sided_p"]

_SMALL: Final = 1e-300
_PRECISION: Final = 1e-16
_MOST_TERMS: Final = 10_000
_BISECTIONS: Final = 200


def two_sided_p(t: float, degrees: int) -> float:
    """Return the probability of a value at least as far from 0 as ``t``.

    Args:
        t: The value; it may be infinite.
        degrees: The degrees of freedom, at least 1.
    """
    if math.isinf(t):
        return 0.0
    return _beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def t_quantile(confidence: float, degrees: int) -> float:
    """Return how far from 0 the values of a share of all cases are at most.

    Args:
        confidence: The share, above 0 and below 1: 0.95 for intervals of 95 %.
        degrees: The degrees of freedom, at least 1.
    """
    low, high = 0.0, 1.0
    while two_sided_p(high, degrees) > 1 - confidence:
        high *= 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        # No number lies in between.
        if middle in (low, high):
            break
        if two_sided_p(middle, degrees) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if x <= 0.0 or x >= 1.0:
        return min(max(x, 0.0), 1.0)
    # The fraction converges fast on this side; the function is symmetric.
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta(b, a, 1.0 - x)
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log1p(-x)
    )
    return front / a * _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _not_zero(1.0 + term * d)
            c = _not_zero(1.0 + term / c)
            result *= d * c
        if abs(d * c - 1.0) < _PRECISION:
            break
    return result


def _not_zero(value: float) -> float:
    return value if abs(value) > _SMALL else _SMALL
