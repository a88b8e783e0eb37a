"""Quantities and their arithmetic.

Mirrors ``pkg/api/resource/quantity.go`` and ``amount.go`` (k8s.io/apimachinery v0.36).
Upstream stores short numbers as an int64 with a power of ten, and others as decimals of
any length. Whether a quantity "is an integer" depends on that, so it is recorded here.
One difference: upstream's sums modify their first operand if it is long.
"""

import functools
import re
from typing import Final

import attrs

from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.values import MAX_INT, MIN_INT

__all__ = ["Amount", "parse_amount"]

# ``maxInt64Factors`` of resource.Quantity. Beyond these digits upstream computes with
# another class, ``infDecAmount``, which rounds and compares otherwise.
_MOST_DIGITS: Final = 18
_MOST_BINARY_DIGITS: Final = 14
_NANO: Final = -9
_MAX_EXPONENT: Final = 10_000
"""Upstream has no limit, but larger ones would take minutes to compare."""

_PARTS: Final = re.compile(
    # Possessive quantifiers: a long text of digits must not be tried in many ways.
    r"([+-]?)(0*+)([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[+-]?[0-9]*+)",
    re.ASCII,
)
_DECIMAL: Final = dict(zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True))
_BINARY: Final = {f"{letter}i": 10 * at for at, letter in enumerate("KMGTPE", start=1)}
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)


@attrs.frozen(eq=False)
class Amount:
    """An exact number, ``value`` times ten to the power of ``scale``.

    Attributes:
        value: The digits.
        scale: The power of ten.
        is_long: Whether upstream stores it as a decimal of any length.
        is_result: Whether it was computed; upstream cannot compare other quantities
            with it by ``==``.
    """

    value: int
    scale: int = 0
    is_long: bool = False
    is_result: bool = False

    @property
    def sign(self) -> int:
        """-1, 0 or 1: the sign of the number."""
        return (self.value > 0) - (self.value < 0)

    @property
    def integer(self) -> int | None:
        """The number if upstream can convert it to an integer, or None."""
        # Also a long number that is whole: upstream's ``AsInt64`` fails for its class.
        if self.is_long or self.scale < 0:
            return None
        if self.scale > _MOST_DIGITS and self.value:
            return None
        number = self.value * 10 ** min(self.scale, _MOST_DIGITS)
        return number if MIN_INT <= number <= MAX_INT else None

    def __float__(self) -> float:
        """Return upstream's approximation of the number."""
        try:
            base = float(self.value)
        # Python raises where Go returns infinity.
        except OverflowError:
            base = float("inf") * self.sign
        return base * _power_of_ten(self.scale) if self.scale else base

    def compare(self, other: "Amount") -> int:
        """Return -1, 0 or 1 if it is less, equal or greater."""
        left, right, _ = _aligned(self, other)
        return (left > right) - (left < right)

    def plus(self, other: "Amount") -> "Amount":
        """Return the sum."""
        # Adding zero returns the other operand unchanged, with its own scale:
        # ``int64Amount.Add`` does so.
        if not self.is_long and not other.is_long:
            if not other.value:
                return attrs.evolve(self, is_result=True)
            if not self.value:
                return attrs.evolve(other, is_result=True)
        left, right, scale = _aligned(self, other)
        fits = all(MIN_INT <= each <= MAX_INT for each in (left, right, left + right))
        is_long = self.is_long or other.is_long or not fits
        return Amount(left + right, scale, is_long=is_long, is_result=True)

    def minus(self, other: "Amount") -> "Amount":
        """Return the difference."""
        return self.plus(attrs.evolve(other, value=-other.value))


def _aligned(left: Amount, right: Amount) -> tuple[int, int, int]:
    """Return the digits of two numbers at a common power of ten, and this power."""
    if left.scale == right.scale:
        return left.value, right.value, left.scale
    scale = min(left.scale, right.scale)
    return (
        left.value * 10 ** (left.scale - scale),
        right.value * 10 ** (right.scale - scale),
        scale,
    )


def _power_of_ten(exponent: int) -> float:
    """Return a power of ten, computed as Go does it."""
    if exponent < -323:
        return 0.0
    if exponent > 308:
        return float("inf")
    many, rest = divmod(abs(exponent), 32)
    if exponent < 0:
        return float(f"1e-{32 * many}") / float(f"1e{rest}")
    return float(f"1e{32 * many}") * float(f"1e{rest}")


@functools.lru_cache(maxsize=4096)
def parse_amount(text: str) -> Amount:
    """Parse a quantity.

    Raises:
        CelEvaluationError: The text is not a quantity.
    """
    match = _PARTS.fullmatch(text)
    if not text or match is None:
        raise CelEvaluationError(
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    sign, zeros, whole, fraction, suffix = match.groups("")
    if suffix in _BINARY:
        amount = _binary(whole, fraction, _BINARY[suffix])
    else:
        amount = _decimal(whole, fraction, _exponent(suffix))
    # An empty number such as ``.`` is 0 on the short way, and an error on the long one.
    if amount.is_long and not zeros + whole + fraction:
        raise CelEvaluationError("unable to parse numeric part of quantity")
    return attrs.evolve(amount, value=-amount.value) if sign == "-" else amount


def _exponent(suffix: str) -> int:
    if not suffix or suffix in _DECIMAL:
        return _DECIMAL.get(suffix, 0)
    match = _EXPONENT.fullmatch(suffix)
    if match is None or abs(int(match[1])) > _MAX_EXPONENT:
        raise CelEvaluationError("unable to parse quantity's suffix")
    return int(match[1])


def _decimal(whole: str, fraction: str, exponent: int) -> Amount:
    digits = (whole or "0") + fraction
    scale = exponent - len(fraction)
    if len(digits) <= _MOST_DIGITS and scale >= _NANO:
        return Amount(int(digits), scale)
    return _long(int(digits), scale)


def _binary(whole: str, fraction: str, power: int) -> Amount:
    digits = len(whole or "0")
    # ``ParseQuantity``: 15 - digits - power * 3 / 10 - 1 must not be negative.
    if not fraction and digits + power * 3 // 10 <= _MOST_BINARY_DIGITS:
        return Amount(int(whole or "0") << power)
    amount = _long(int((whole or "0") + fraction) << power, -len(fraction))
    # Binary amounts are cut to 64 bits, decimal ones are not.
    if amount.compare(Amount(MAX_INT)) > 0:
        return Amount(MAX_INT, is_long=True)
    return amount


def _long(value: int, scale: int) -> Amount:
    """Make a long number; digits below 10**-9 are rounded up."""
    if not value:
        return Amount(0, scale, is_long=True)
    if scale < _NANO:
        # Rounded up, as amounts of resources always are, so that a request never
        # shrinks.
        value = -(-value // 10 ** (_NANO - scale))
    else:
        value *= 10 ** (scale - _NANO)
    return Amount(value, _NANO, is_long=True)
