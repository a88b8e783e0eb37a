"""Operators: arithmetic with 64 bits, comparison, and membership.

Mirrors ``common/stdlib/standard.go`` and ``common/types/overflow.go`` (cel-go v0.26.0).
"""

import math
from collections.abc import Callable, Iterator
from typing import Final

from kubernetes_cel.declarations import Overload, function
from kubernetes_cel.equality import compare, equal, surely_equal
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.times import DURATIONS, in_range
from kubernetes_cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    Duration,
    Timestamp,
    Uint,
    Value,
    no_such_overload,
    to_key,
)

__all__ = ["OVERLOADS", "to_int", "to_uint"]


def to_int(value: int) -> int:
    """Return a number, or raise an error if it is not a signed 64-bit integer."""
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CelEvaluationError("integer overflow")


def to_uint(value: int) -> Uint:
    """Return a number, or raise an error if it is not an unsigned 64-bit integer."""
    if 0 <= value <= MAX_UINT:
        return Uint(value)
    raise CelEvaluationError("unsigned integer overflow")


def _int_quotient(left: int, right: int) -> int:
    if right == 0:
        raise CelEvaluationError("division by zero")
    # Go truncates towards zero; Python rounds down.
    quotient = abs(left) // abs(right)
    return to_int(quotient if (left < 0) is (right < 0) else -quotient)


def _int_rest(left: int, right: int) -> int:
    if right == 0:
        raise CelEvaluationError("modulus by zero")
    # Go's remainder would be 0, but cel-go rejects this one division.
    if left == MIN_INT and right == -1:
        raise CelEvaluationError("integer overflow")
    rest = abs(left) % abs(right)
    # The sign of the dividend, as in Go.
    return -rest if left < 0 else rest


def _uint_quotient(left: int, right: int) -> Uint:
    if right == 0:
        raise CelEvaluationError("division by zero")
    return Uint(left // right)


def _uint_rest(left: int, right: int) -> Uint:
    if right == 0:
        raise CelEvaluationError("modulus by zero")
    return Uint(left % right)


def _double_quotient(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _double_product(left: float, right: float) -> float:
    return left * right


def _moment(moment: Timestamp, nanos: int) -> Timestamp:
    # The result stays in the zone of the timestamp.
    return Timestamp(in_range(moment.nanos + nanos), moment.offset)


def _span(nanos: int) -> Duration:
    low, high = DURATIONS
    if low <= nanos <= high:
        return Duration(nanos)
    raise CelEvaluationError("duration overflow")


def _in_list(value: Value, members: list[Value]) -> bool:
    # An element that cannot be compared is just not the one.
    return any(surely_equal(value, each) for each in members)


def _in_map(value: Value, members: dict[Value, Value]) -> bool:
    # A list is never a key, and ``in`` is false for it, not an error.
    return type(value) not in (list, dict) and to_key(value) in members


def _negated(value: Value) -> Value:
    """Negate a number, or a duration that has the type ``dyn``."""
    # ``-dyn(duration('1s'))`` is valid: the value's own method is called.
    if type(value) is Duration:
        return _span(-value.nanos)
    if type(value) is int:
        return to_int(-value)
    if type(value) is float:
        return -value
    raise no_such_overload()


def _special(*_: Value) -> Value:
    raise AssertionError("the compiler replaces this function")


def _orders() -> Iterator[Overload]:
    pairs = [
        ("bool", "bool", "bool", ""),
        ("int64", "int", "int", ""),
        ("int64", "int", "double", "_double"),
        ("int64", "int", "uint", "_uint64"),
        ("uint64", "uint", "uint", ""),
        ("uint64", "uint", "double", "_double"),
        ("uint64", "uint", "int", "_int64"),
        ("double", "double", "double", ""),
        ("double", "double", "int", "_int64"),
        ("double", "double", "uint", "_uint64"),
        ("string", "string", "string", ""),
        ("bytes", "bytes", "bytes", ""),
        ("timestamp", "timestamp", "timestamp", ""),
        ("duration", "duration", "duration", ""),
    ]
    tests: list[tuple[str, str, Callable[[Value, Value], bool]]] = [
        ("less", "_<_", lambda left, right: compare(left, right) < 0),
        ("less_equals", "_<=_", lambda left, right: compare(left, right) <= 0),
        ("greater", "_>_", lambda left, right: compare(left, right) > 0),
        ("greater_equals", "_>=_", lambda left, right: compare(left, right) >= 0),
    ]
    for name, operator, test in tests:
        for kind, left, right, suffix in pairs:
            yield function(
                f"{name}_{kind}{suffix}", f"{operator}({left}, {right}) -> bool", test
            )


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("conditional", "_?_:_(bool, A, A) -> A", _special),
    function("logical_and", "_&&_(bool, bool) -> bool", _special),
    function("logical_or", "_||_(bool, bool) -> bool", _special),
    function("logical_not", "!_(bool) -> bool", lambda value: not value),
    function("not_strictly_false", "@not_strictly_false(bool) -> bool", _special),
    function("equals", "_==_(A, A) -> bool", equal),
    function("not_equals", "_!=_(A, A) -> bool", lambda a, b: not surely_equal(a, b)),
    *_orders(),
    function("add_bytes", "_+_(bytes, bytes) -> bytes", lambda a, b: a + b),
    function("add_double", "_+_(double, double) -> double", lambda a, b: a + b),
    function(
        "add_duration_duration",
        "_+_(duration, duration) -> duration",
        lambda a, b: _span(a.nanos + b.nanos),
    ),
    function(
        "add_duration_timestamp",
        "_+_(duration, timestamp) -> timestamp",
        lambda a, b: _moment(b, a.nanos),
    ),
    function(
        "add_timestamp_duration",
        "_+_(timestamp, duration) -> timestamp",
        lambda a, b: _moment(a, b.nanos),
    ),
    function("add_int64", "_+_(int, int) -> int", lambda a, b: to_int(a + b)),
    function("add_list", "_+_(list(A), list(A)) -> list(A)", lambda a, b: [*a, *b]),
    function("add_string", "_+_(string, string) -> string", lambda a, b: a + b),
    function("add_uint64", "_+_(uint, uint) -> uint", lambda a, b: to_uint(a + b)),
    function("subtract_double", "_-_(double, double) -> double", lambda a, b: a - b),
    function(
        "subtract_duration_duration",
        "_-_(duration, duration) -> duration",
        lambda a, b: _span(a.nanos - b.nanos),
    ),
    function("subtract_int64", "_-_(int, int) -> int", lambda a, b: to_int(a - b)),
    function(
        "subtract_timestamp_duration",
        "_-_(timestamp, duration) -> timestamp",
        lambda a, b: _moment(a, -b.nanos),
    ),
    function(
        "subtract_timestamp_timestamp",
        "_-_(timestamp, timestamp) -> duration",
        lambda a, b: _span(a.nanos - b.nanos),
    ),
    function("subtract_uint64", "_-_(uint, uint) -> uint", lambda a, b: to_uint(a - b)),
    function("multiply_double", "_*_(double, double) -> double", _double_product),
    function("multiply_int64", "_*_(int, int) -> int", lambda a, b: to_int(a * b)),
    function("multiply_uint64", "_*_(uint, uint) -> uint", lambda a, b: to_uint(a * b)),
    function("divide_double", "_/_(double, double) -> double", _double_quotient),
    function("divide_int64", "_/_(int, int) -> int", _int_quotient),
    function("divide_uint64", "_/_(uint, uint) -> uint", _uint_quotient),
    function("modulo_int64", "_%_(int, int) -> int", _int_rest),
    function("modulo_uint64", "_%_(uint, uint) -> uint", _uint_rest),
    function("negate_double", "-_(double) -> double", _negated, guarded=False),
    function("negate_int64", "-_(int) -> int", _negated, guarded=False),
    function("in_list", "@in(A, list(A)) -> bool", _in_list),
    function("in_map", "@in(A, map(A, B)) -> bool", _in_map),
    function("index_list", "_[_](list(A), int) -> A", _special),
    function("index_map", "_[_](map(A, B), A) -> B", _special),
    function(
        "optional_list_index_int",
        "_[_](optional(list(V)), int) -> optional(V)",
        _special,
    ),
    function(
        "optional_map_index_value",
        "_[_](optional(map(K, V)), K) -> optional(V)",
        _special,
    ),
    function(
        "list_optindex_optional_int", "_[?_](list(V), int) -> optional(V)", _special
    ),
    function(
        "optional_list_optindex_optional_int",
        "_[?_](optional(list(V)), int) -> optional(V)",
        _special,
    ),
    function(
        "map_optindex_optional_value", "_[?_](map(K, V), K) -> optional(V)", _special
    ),
    function(
        "optional_map_optindex_optional_value",
        "_[?_](optional(map(K, V)), K) -> optional(V)",
        _special,
    ),
    function("select_optional_field", "_?._(dyn, string) -> optional(V)", _special),
)
