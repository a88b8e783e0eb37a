"""Reads single values strictly, without conversion to another type."""

import base64
import binascii
import enum
import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import MicroTime, Time
from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.errors import QuantityError, TimeError
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.duration import PATTERN, parse_duration
from quaymaster._core.config.findings import Finding, FindingsError

__all__ = ["SCALARS", "Scalar", "read_enum"]

_INT64 = range(-(2**63), 2**63)


class Scalar(msgspec.Struct, frozen=True):
    """The reader and the description of a scalar type.

    Attributes:
        expected: Its name in messages.
        read: Converts a value of a file; None if the value is of another type.
        schema: Its JSON Schema.
    """

    expected: str
    read: Callable[[object], object | None]
    schema: Mapping[str, object]

    def structure(self, value: object, kind: type) -> object:
        """Read a value of this type, or of an enum that derives from it.

        Raises:
            FindingsError: The value is of another type.
        """
        if issubclass(kind, enum.Enum):
            return read_enum(value, kind)
        result = self.read(value)
        if result is None:
            raise FindingsError([Finding.wrong_type(self.expected, value)])
        return result


def _bool(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _int(value: object) -> int | None:
    # A bool is an int in Python: ``parallelism: true`` would mean 1.
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value in _INT64 else None


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # YAML has ``.nan`` and ``.inf``. A comparison with NaN is always false, so that
    # every rule about a minimum or maximum would have to expect it.
    return float(value) if math.isfinite(value) else None


def _str(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _bytes(value: object) -> bytes | None:
    try:
        return (
            base64.b64decode(value, validate=True) if isinstance(value, str) else None
        )
    except binascii.Error:
        return None


def _timedelta(value: object) -> timedelta | None:
    return parse_duration(value) if isinstance(value, str) else None


def _quantity(value: object) -> Quantity | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return Quantity(value)
    except QuantityError:
        return None


def _time(make: type[Time]) -> Callable[[object], Time | None]:
    def read(value: object) -> Time | None:
        try:
            return make.parse(value) if isinstance(value, str) else None
        except TimeError:
            return None

    return read


_A_TIME = "a time such as 2026-01-31T12:00:00Z"
_TIME_SCHEMA = {"type": "string", "format": "date-time"}

Scalars: TypeAlias = Mapping[type, Scalar]

SCALARS: Scalars = {
    bool: Scalar("true or false", _bool, {"type": "boolean"}),
    int: Scalar("an integer", _int, {"type": "integer"}),
    float: Scalar("a number", _float, {"type": "number"}),
    str: Scalar("a text", _str, {"type": "string"}),
    bytes: Scalar(
        "base64 text", _bytes, {"type": "string", "contentEncoding": "base64"}
    ),
    timedelta: Scalar(
        "a duration such as 15s or 1m30s",
        _timedelta,
        {"type": "string", "pattern": f"^{PATTERN}$"},
    ),
    Quantity: Scalar(
        "a quantity such as 500m, 2 or 1.5Gi",
        _quantity,
        {"type": ["string", "number"]},
    ),
    Time: Scalar(_A_TIME, _time(Time), _TIME_SCHEMA),
    MicroTime: Scalar(_A_TIME, _time(MicroTime), _TIME_SCHEMA),
}
"""The scalar types that arguments and settings may use."""


def read_enum(value: object, kind: type[enum.Enum]) -> enum.Enum:
    """Read a member of an enum, written as its value.

    Raises:
        FindingsError: No member has this value.
    """
    for member in kind:
        # 1, 1.0 and True are equal in Python and would select the same member.
        if member.value == value and type(member.value) is type(value):
            return member
    values = [member.value for member in kind]
    finding = Finding.wrong_type("one of " + ", ".join(map(repr, values)), value)
    hint = did_you_mean(value, map(str, values)) if isinstance(value, str) else ""
    raise FindingsError([replace(finding, message=finding.message + hint)])
