"""When values are equal, and which comes first.

Mirrors ``Equal`` and ``Compare`` of ``common/types`` (cel-go v0.26.0): values of
different types are different, but numbers are compared by what they are worth, and
quantities, versions and their like cannot be compared with anything else.
"""

import operator
from collections.abc import Callable
from typing import Final

from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.values import (
    MAP_TYPES,
    DefaultMap,
    Duration,
    Optional,
    Timestamp,
    Uint,
    Value,
    no_such_overload,
)

__all__ = ["compare", "equal", "only_with_its_like", "surely_equal"]

_NUMBERS: Final = frozenset({int, Uint, float})
_PLAIN: Final = frozenset({str, bool, bytes, Duration, Timestamp})
_PICKY: dict[type, Callable[[Value, Value], bool]] = {}


def equal(one: Value, other: Value) -> bool:
    """Say whether two values are equal.

    Raises:
        CelEvaluationError: The first can only be compared with its like.
    """
    kind = type(one)
    if kind is str:
        return type(other) is str and bool(one == other)
    if kind in _PICKY:
        if type(other) is not kind:
            raise no_such_overload()
        return _PICKY[kind](one, other)
    if one is None or other is None:
        return one is None and other is None
    if kind in _NUMBERS:
        return type(other) in _NUMBERS and _same_number(one, other)
    if kind in _PLAIN:
        return type(other) is kind and bool(one == other)
    if kind is list:
        return (
            type(other) is list
            and len(one) == len(other)
            and all(map(_not_different, one, other))
        )
    if kind in MAP_TYPES:
        return type(other) in MAP_TYPES and _same_map(one, other)
    if kind is Optional:
        return type(other) is Optional and _same_optional(one, other)
    return type(other) is kind and bool(one == other)


def only_with_its_like(
    kind: type, same: Callable[[Value, Value], bool] = operator.eq
) -> None:
    """Let values of a class be compared with values of this class only.

    Args:
        kind: The class.
        same: Says whether two of its values are equal.
    """
    _PICKY[kind] = same


def surely_equal(one: Value, other: Value) -> bool:
    """Say whether two values are equal, and not if they cannot be compared."""
    try:
        return equal(one, other)
    except CelEvaluationError:
        return False


def _not_different(one: Value, other: Value) -> bool:
    """Upstream takes members of lists and maps that cannot be compared as equal."""
    try:
        return equal(one, other)
    except CelEvaluationError:
        return True


def _same_number(one: float, other: float) -> bool:
    if type(one) is float or type(other) is float:
        return one == one and other == other and _compare_with_double(one, other) == 0
    return one == other


def _same_optional(one: Optional, other: Optional) -> bool:
    if one.present != other.present:
        return False
    for each in (one.value, other.value):
        if isinstance(each, CelEvaluationError):
            raise each
    return not one.present or equal(one.value, other.value)


def _same_map(one: dict[Value, Value], other: dict[Value, Value]) -> bool:
    if len(one) != len(other):
        return False
    for key, value in one.items():
        if key not in other and type(other) is not DefaultMap:
            return False
        if not _not_different(value, other[key]):
            return False
    return True


def _compare_with_double(one: float, other: float) -> int:
    """Compare numbers of which one is a double, as doubles within the range."""
    if type(one) is not float:
        return -_compare_with_double(other, one)
    if type(other) is Uint:
        low, high = 0.0, 2.0**64
    else:
        low, high = -(2.0**63), 2.0**63
    if type(other) is not float:
        if one < low:
            return -1
        if one > high:
            return 1
        other = float(other)
    return (one > other) - (one < other)


def compare(one: Value, other: Value) -> int:
    """Return -1, 0 or 1 as a value comes before another, is equal or comes after.

    Raises:
        CelEvaluationError: There is no order between them.
    """
    kind = type(one)
    if kind in _NUMBERS and type(other) in _NUMBERS:
        if one != one or other != other:
            raise CelEvaluationError("NaN values cannot be ordered")
        if kind is float or type(other) is float:
            return _compare_with_double(one, other)
    elif kind is not type(other):
        raise no_such_overload()
    elif kind is Duration or kind is Timestamp:
        one, other = one.nanos, other.nanos
    elif kind is str:
        one, other = one.encode(), other.encode()
    elif kind not in (bool, bytes):
        raise no_such_overload()
    return int(one > other) - int(one < other)
