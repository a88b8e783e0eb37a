"""The simple types of fields, and the values that the API server accepts.

Mirrors sigs.k8s.io/json, which decodes without conversions, and the types of
k8s.io/apimachinery v0.36 that decode themselves (``pkg/api/resource``,
``pkg/util/intstr``).
"""

import base64
import binascii
import enum
from collections.abc import Callable, Mapping
from typing import Final

from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.errors import QuantityError

__all__ = ["Scalar", "expected_type", "is_scalar"]


class Scalar(enum.IntEnum):
    """A simple type, by its number in the table of fields."""

    STRING = -1
    INT32 = -2
    INT64 = -3
    NUMBER = -4
    BOOLEAN = -5
    BYTES = -6
    INT_OR_STRING = -7
    QUANTITY = -8


def expected_type(value: object, scalar: int) -> str:
    """Return the expected value in words, if this one is invalid; else empty."""
    bits = _BITS.get(scalar)
    if bits is not None:
        return _integer_instead(value, bits)
    expected, is_right = _RULES[scalar]
    return "" if is_right(value) else expected


def is_scalar(reference: object) -> bool:
    """Return whether a reference of the table is a simple type."""
    return isinstance(reference, int) and reference < 0


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _integer_instead(value: object, bits: int) -> str:
    """Return the same for integers of 32 or 64 bits; Go reads YAML's 80.0 as 80."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value % 1:
        return "an integer"
    most = 1 << (bits - 1)
    # A number beyond all integers may be infinite as a float.
    return "" if -most <= value < most else f"an integer from {-most} to {most - 1}"


def _is_base64(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        base64.b64decode(value.translate(_LINE_ENDS), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_quantity(value: object) -> bool:
    if not isinstance(value, str) and not _is_number(value):
        return False
    try:
        Quantity(value)  # type: ignore[arg-type]  # a string or a number
    except QuantityError:
        return False
    return True


def _is_int_or_string(value: object) -> bool:
    return isinstance(value, str) or not _integer_instead(value, 32)


_BITS: Final[Mapping[int, int]] = {Scalar.INT32: 32, Scalar.INT64: 64}
_LINE_ENDS: Final = {ord("\r"): None, ord("\n"): None}
_RULES: Final[Mapping[int, tuple[str, Callable[[object], bool]]]] = {
    Scalar.STRING: ("a string", _is_string),
    Scalar.NUMBER: ("a number", _is_number),
    Scalar.BOOLEAN: ("true or false", lambda value: isinstance(value, bool)),
    Scalar.BYTES: ("base64 text", _is_base64),
    Scalar.INT_OR_STRING: ("an integer or a string", _is_int_or_string),
    Scalar.QUANTITY: ("a quantity such as 500m, 2 or 1.5Gi", _is_quantity),
}
