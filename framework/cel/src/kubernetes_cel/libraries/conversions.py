"""Conversions between types, and the sizes of values.

Mirrors ``ConvertToType`` of ``common/types`` (cel-go v0.26.0).
"""

import math
import re
from typing import Final

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.dispatch import type_name
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.times import (
    NANOS,
    duration_of,
    duration_text,
    in_range,
    timestamp_of,
    timestamp_text,
)
from kubernetes_cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    Value,
)

__all__ = ["CONVERSIONS", "OVERLOADS", "double_text"]

CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "uint"}
)
"""The functions that upstream calls for constants when it compiles an expression.

A constant that cannot be converted is then a compilation error.
"""
_INT: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UINT: Final = re.compile(r"[0-9]+", re.ASCII)
# The grammar of ``strconv.ParseFloat``: Python accepts spaces, and no hexadecimal
# floats.
_DOUBLE: Final = re.compile(
    r"[+-]?(?:(?=\.?[0-9])[0-9]*(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?|inf(?:inity)?)"
    r"|[+-]?nan|[+-]?0x(?=\.?[0-9a-f])[0-9a-f]*(?:\.[0-9a-f]*)?p[+-]?[0-9]+",
    re.ASCII | re.IGNORECASE,
)
_BETWEEN_DIGITS: Final = re.compile(
    r"(?<=[0-9])_(?=[0-9])|(?<=0[xX])_(?=[0-9a-fA-F])", re.ASCII
)
_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def _not_converted(source: str, target: str) -> CelEvaluationError:
    return CelEvaluationError(f"type conversion error from '{source}' to '{target}'")


def _bool(text: str) -> bool:
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise _not_converted("string", "bool")


def _int(text: str) -> int:
    if _INT.fullmatch(text) and MIN_INT <= int(text) <= MAX_INT:
        return int(text)
    raise _not_converted("string", "int")


def _uint(text: str) -> Uint:
    if _UINT.fullmatch(text) and int(text) <= MAX_UINT:
        return Uint(text)
    raise _not_converted("string", "uint")


def _double(text: str) -> float:
    text = _BETWEEN_DIGITS.sub("", text)
    if not _DOUBLE.fullmatch(text):
        raise _not_converted("string", "double")
    if "x" in text or "X" in text:
        try:
            return float.fromhex(text)
        except OverflowError as error:
            raise _not_converted("string", "double") from error
    value = float(text)
    # A number that is too large is an error, but the word for infinity is not.
    if math.isinf(value) and "i" not in text.lower():
        raise _not_converted("string", "double")
    return value


def _int_of_double(value: float) -> int:
    # Both ends are excluded: a double cannot hold MAX_INT, and rounds it up to 2**63.
    if not (MIN_INT < value < MAX_INT) or value >= 2.0**63 or value <= -(2.0**63):
        raise CelEvaluationError("integer overflow")
    return int(value)


def _uint_of_double(value: float) -> Uint:
    if not 0 <= value < 2.0**64:
        raise CelEvaluationError("unsigned integer overflow")
    return Uint(value)


def _int_of_uint(value: int) -> int:
    if value > MAX_INT:
        raise CelEvaluationError("integer overflow")
    return int(value)


def _uint_of_int(value: int) -> Uint:
    if value < 0:
        raise CelEvaluationError("unsigned integer overflow")
    return Uint(value)


def double_text(value: float) -> str:
    """Return the text of a double as Go's ``%g`` prints it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = _shortest(value)
    if exponent < -4 or exponent >= 6:
        mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
        return f"{sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    return f"{sign}{_plain(digits, exponent)}"


def _shortest(value: float) -> tuple[str, str, int]:
    """Return the sign, the fewest digits that identify a double, and the exponent."""
    mantissa, _, exponent = f"{value:.17e}".partition("e")
    # Go's shortest form: the fewest digits that give the same double.
    for places in range(17):
        text = f"{value:.{places}e}"
        if float(text) == value:
            mantissa, _, exponent = text.partition("e")
            break
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    return sign, digits.rstrip("0") or "0", int(exponent)


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    if len(digits) <= exponent + 1:
        return digits.ljust(exponent + 1, "0")
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


def _string_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise CelEvaluationError(
            "invalid UTF-8 in bytes, cannot convert to string"
        ) from error


def _duration(text: str) -> Duration:
    try:
        return duration_of(text)
    except ValueError as error:
        raise _not_converted("string", "google.protobuf.Duration") from error


def _timestamp(text: str) -> Timestamp:
    try:
        return timestamp_of(text)
    except ValueError as error:
        raise _not_converted("string", "google.protobuf.Timestamp") from error


def _timestamp_of_int(seconds: int) -> Timestamp:
    return Timestamp(in_range(seconds * NANOS))


# The overload exists and always fails, as in cel-go v0.26, so the error comes at run
# time.
def _duration_of_int(_value: int) -> Duration:
    raise _not_converted("int", "google.protobuf.Duration")


def _itself(value: Value) -> Value:
    return value


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("bool_to_bool", "bool(bool) -> bool", _itself),
    function("string_to_bool", "bool(string) -> bool", _bool),
    function("bytes_to_bytes", "bytes(bytes) -> bytes", _itself),
    function("string_to_bytes", "bytes(string) -> bytes", str.encode),
    function("double_to_double", "double(double) -> double", _itself),
    function("int64_to_double", "double(int) -> double", float),
    function("string_to_double", "double(string) -> double", _double),
    function("uint64_to_double", "double(uint) -> double", float),
    function("duration_to_duration", "duration(duration) -> duration", _itself),
    function("string_to_duration", "duration(string) -> duration", _duration),
    function("to_dyn", "dyn(A) -> dyn", _itself),
    function("int64_to_int64", "int(int) -> int", _itself),
    function("double_to_int64", "int(double) -> int", _int_of_double),
    function("duration_to_int64", "int(duration) -> int", lambda span: span.nanos),
    function("string_to_int64", "int(string) -> int", _int),
    function(
        "timestamp_to_int64", "int(timestamp) -> int", lambda at: at.nanos // NANOS
    ),
    function("uint64_to_int64", "int(uint) -> int", _int_of_uint),
    function("string_to_string", "string(string) -> string", _itself),
    function(
        "bool_to_string", "string(bool) -> string", lambda value: str(value).lower()
    ),
    function("bytes_to_string", "string(bytes) -> string", _string_of_bytes),
    function("double_to_string", "string(double) -> string", double_text),
    function("duration_to_string", "string(duration) -> string", duration_text),
    function("int64_to_string", "string(int) -> string", str),
    function("timestamp_to_string", "string(timestamp) -> string", timestamp_text),
    function("uint64_to_string", "string(uint) -> string", str),
    function("timestamp_to_timestamp", "timestamp(timestamp) -> timestamp", _itself),
    function("int64_to_timestamp", "timestamp(int) -> timestamp", _timestamp_of_int),
    function("string_to_timestamp", "timestamp(string) -> timestamp", _timestamp),
    function("type", "type(A) -> type(A)", lambda value: TypeValue(type_name(value))),
    function("uint64_to_uint64", "uint(uint) -> uint", _itself),
    function("double_to_uint64", "uint(double) -> uint", _uint_of_double),
    function("int64_to_uint64", "uint(int) -> uint", _uint_of_int),
    function("string_to_uint64", "uint(string) -> uint", _uint),
    function("size_bytes", "size(bytes) -> int", len),
    method("bytes_size", "bytes.size() -> int", len),
    function("size_list", "size(list(A)) -> int", len),
    method("list_size", "list(A).size() -> int", len),
    function("size_map", "size(map(A, B)) -> int", len),
    method("map_size", "map(A, B).size() -> int", len),
    function("size_string", "size(string) -> int", len),
    method("string_size", "string.size() -> int", len),
)

OVERLOADS_1_36: Final[tuple[Overload, ...]] = (
    function("int64_to_duration", "duration(int) -> duration", _duration_of_int),
)
"""The overloads that cel-go v0.26 has, and v0.29 no longer has."""
