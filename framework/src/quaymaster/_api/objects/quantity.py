"""Exact Kubernetes quantities: ``100m``, ``1.5Gi``, ``1e3``.

Mirrors ``Quantity`` (k8s.io/apimachinery v0.36, ``pkg/api/resource/quantity.go``), with
three differences. A text must have at least one digit (upstream reads a bare ``m`` as
0). `Quantity.value` and `Quantity.milli_value` stop at the limits of int64 where
upstream's overflow. An exponent beyond ±99 is an error.
"""

import enum
import functools
import math
import re
from decimal import Decimal
from typing import Final, NoReturn, TypeAlias

from quaymaster._base.errors import QuantityError

__all__ = ["Quantity", "QuantityError", "QuantityFormat", "ResourceList"]

_NANO: Final = 10**9
_MICRO: Final = 10**6
_MAX_INT64: Final = 2**63 - 1
_MIN_INT64: Final = -(2**63)
_MAX_EXPONENT: Final = 99
# Bounds the time to parse a text; no real quantity is so long.
_MAX_LENGTH: Final = 256

_DECIMAL_SUFFIXES: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY_SUFFIXES: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_SUFFIX_OF_EXPONENT: Final = {power: text for text, power in _DECIMAL_SUFFIXES.items()}
_PATTERN: Final = re.compile(
    r"""([+-]?) (?=\.?[0-9]) ([0-9]*) (?:\.([0-9]*))?
        (?: ([KMGTPE]i) | [eE]([+-]?[0-9]+) | ([numkMGTPE]?) )""",
    re.VERBOSE | re.ASCII,
)


class QuantityFormat(enum.Enum):
    """The notation of a quantity; its value does not depend on it."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class Quantity:
    """An exact amount of something, as Kubernetes writes it. Immutable.

    ``Quantity("1.5Gi")``, ``Quantity(2)`` and ``Quantity(0.5)`` all work; parsed texts
    are cached. Quantities compare, add, subtract and negate exactly. Parsing rounds
    fractions of 10**-9 away from zero.

    Attributes:
        nanos: The exact amount, in units of 10**-9.
        format: Its notation.
    """

    __slots__ = ("_text", "format", "nanos")

    nanos: int
    format: QuantityFormat
    _text: str | None

    def __new__(cls, amount: "str | int | float | Quantity" = 0) -> "Quantity":
        """Make a quantity from a text or a number.

        Raises:
            QuantityError: The text is not a quantity, or the number is not finite.
        """
        if isinstance(amount, str):
            return _parse(amount)
        if isinstance(amount, Quantity):
            return amount
        if isinstance(amount, bool) or not math.isfinite(amount):
            raise QuantityError(amount)
        if isinstance(amount, int):
            return _make(amount * _NANO, QuantityFormat.DECIMAL_SI)
        return _parse(format(Decimal(repr(amount)), "f"))

    @classmethod
    def from_milli(
        cls, milli: int, style: QuantityFormat = QuantityFormat.DECIMAL_SI
    ) -> "Quantity":
        """Return a quantity of thousandths: ``from_milli(100)`` is ``100m``."""
        return _make(milli * _MICRO, style)

    @classmethod
    def from_value(cls, value: int, style: QuantityFormat) -> "Quantity":
        """Return a quantity of a whole number, in some notation.

        Mirrors ``NewQuantity``.
        """
        return _make(value * _NANO, style)

    @property
    def value(self) -> int:
        """The amount as an integer, rounded away from zero, within int64."""
        return _rounded(self.nanos, _NANO)

    @property
    def milli_value(self) -> int:
        """The amount in thousandths, rounded away from zero, within int64."""
        return _rounded(self.nanos, _MICRO)

    def __str__(self) -> str:
        """Return the canonical text: the shortest one without a fraction."""
        text = self._text
        if text is None:
            text = _canonical(self.nanos, self.format)
            object.__setattr__(self, "_text", text)
        return text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Quantity):
            return self.nanos == other.nanos
        return NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        if isinstance(other, Quantity):
            return self.nanos < other.nanos
        return NotImplemented

    def __le__(self, other: "Quantity") -> bool:
        if isinstance(other, Quantity):
            return self.nanos <= other.nanos
        return NotImplemented

    def __gt__(self, other: "Quantity") -> bool:
        if isinstance(other, Quantity):
            return self.nanos > other.nanos
        return NotImplemented

    def __ge__(self, other: "Quantity") -> bool:
        if isinstance(other, Quantity):
            return self.nanos >= other.nanos
        return NotImplemented

    def __add__(self, other: "Quantity") -> "Quantity":
        """Return the exact sum, in the notation of the first nonzero operand."""
        if not isinstance(other, Quantity):
            return NotImplemented
        style = self.format if self.nanos else other.format
        return _make(self.nanos + other.nanos, style)

    def __sub__(self, other: "Quantity") -> "Quantity":
        """Return the exact difference, in the notation of the first nonzero operand."""
        if not isinstance(other, Quantity):
            return NotImplemented
        style = self.format if self.nanos else other.format
        return _make(self.nanos - other.nanos, style)

    def __neg__(self) -> "Quantity":
        return _make(-self.nanos, self.format)

    def __reduce__(self) -> tuple[object, ...]:
        return (_make, (self.nanos, self.format))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("quantities are immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("quantities are immutable")


ResourceList: TypeAlias = dict[str, Quantity]
"""Resource name -> amount, as in ``requests`` and ``allocatable``. Never changed."""


def _make(nanos: int, style: QuantityFormat) -> Quantity:
    quantity = object.__new__(Quantity)
    object.__setattr__(quantity, "nanos", nanos)
    object.__setattr__(quantity, "format", style)
    object.__setattr__(quantity, "_text", None)
    return quantity


# Manifests repeat few texts, and a cache lookup takes a ninth of the time. An entry
# takes 220 bytes, so the cache takes at most 4 MB.
@functools.lru_cache(maxsize=16384)
def _parse(text: str) -> Quantity:
    match = _PATTERN.fullmatch(text.strip()) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise QuantityError(text)
    sign, whole, fraction, binary, exponent, decimal = match.groups()
    style, power, factor = QuantityFormat.DECIMAL_SI, 0, 1
    if binary is not None:
        style = QuantityFormat.BINARY_SI
        factor = 1024 ** (_BINARY_SUFFIXES.index(binary) + 1)
    elif exponent is not None:
        style = QuantityFormat.DECIMAL_EXPONENT
        power = int(exponent)
        if abs(power) > _MAX_EXPONENT:
            raise QuantityError(text)
    else:
        power = _DECIMAL_SUFFIXES[decimal]
    fraction = fraction or ""
    amount = int(whole + fraction) * factor
    nanos = _shifted(amount, power - len(fraction) + 9)
    if style is QuantityFormat.BINARY_SI:
        # Binary amounts only, as ``ParseQuantity`` does.
        nanos = min(nanos, _MAX_INT64 * _NANO)
        if nanos < _NANO:
            style = QuantityFormat.DECIMAL_SI
    return _make(-nanos if sign == "-" else nanos, style)


def _shifted(amount: int, power: int) -> int:
    """Return ``amount * 10**power`` for an amount of at least 0, rounded up."""
    if power >= 0:
        return int(amount * 10**power)
    return int(-(-amount // 10**-power))


def _rounded(nanos: int, unit: int) -> int:
    if nanos >= 0:
        return min(-(-nanos // unit), _MAX_INT64)
    return max(nanos // unit, _MIN_INT64)


def _canonical(nanos: int, style: QuantityFormat) -> str:
    if nanos == 0:
        return "0"
    sign, amount = ("-", -nanos) if nanos < 0 else ("", nanos)
    if (
        style is QuantityFormat.BINARY_SI
        and amount >= 1024 * _NANO
        and amount % _NANO == 0
    ):
        return sign + _binary_text(amount // _NANO)
    power, limit = -9, 18
    if style is QuantityFormat.DECIMAL_EXPONENT:
        limit = 2 * _MAX_EXPONENT
    while power < limit and amount % 1000 == 0:
        amount //= 1000
        power += 3
    if style is QuantityFormat.DECIMAL_EXPONENT:
        return f"{sign}{amount}e{power}" if power else f"{sign}{amount}"
    return f"{sign}{amount}{_SUFFIX_OF_EXPONENT[power]}"


def _binary_text(amount: int) -> str:
    suffix = ""
    for larger in _BINARY_SUFFIXES:
        if amount % 1024 or amount < 1024:
            break
        amount //= 1024
        suffix = larger
    return f"{amount}{suffix}"
