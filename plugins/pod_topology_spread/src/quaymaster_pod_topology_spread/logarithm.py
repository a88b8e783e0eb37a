"""The natural logarithm, rounded as Go rounds it.

C libraries differ from Go's ``math.Log`` in the last bit for about one number in a
hundred, which can change a score by one. This is the algorithm of FreeBSD's ``e_log.c``
(copyright 1993 by Sun Microsystems, Inc., freely granted), which Go uses, too: the
argument is scaled to the range between the roots of 1/2 and 2, where the logarithm is a
polynomial in ``s = f / (2 + f)``.
"""

import functools
import math
from typing import Final

__all__ = ["go_log", "size_weight"]

_LN2_HIGH: Final = 6.93147180369123816490e-01
_LN2_LOW: Final = 1.90821492927058770002e-10
_HALF_ROOT: Final = 7.07106781186547524401e-01
# The coefficients of s^2, s^4, ... s^14.
_C: Final = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)


def go_log(x: float) -> float:
    """Return the natural logarithm of a positive, finite number."""
    fraction, exponent = math.frexp(x)
    # The steps of Go's math.Log in its order, because the C library's logarithm differs
    # from it in the last bit for some sizes, and a score is rounded afterwards.
    if fraction < _HALF_ROOT:
        fraction *= 2
        exponent -= 1
    f = fraction - 1
    s = f / (2 + f)
    square = s * s
    fourth = square * square
    odd = square * (_C[0] + fourth * (_C[2] + fourth * (_C[4] + fourth * _C[6])))
    even = fourth * (_C[1] + fourth * (_C[3] + fourth * _C[5]))
    half = 0.5 * f * f
    tail = s * (half + (odd + even)) + exponent * _LN2_LOW
    return exponent * _LN2_HIGH - ((half - tail) - f)


@functools.lru_cache(maxsize=1024)  # a bound; pods repeat a few sizes
def size_weight(size: int) -> float:
    """Return the weight of a constraint for the number of its domains."""
    # 2 is added so that the weight is positive even without domains
    # (``topologyNormalizingWeight``).
    return go_log(size + 2)
