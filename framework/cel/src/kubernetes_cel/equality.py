"""Equality and order of values.

Mirrors ``Equal`` and ``Compare`` of ``common/types`` (cel-go v0.26.0). Values of
different types are not equal, except numbers, which are compared by value. Values of
some classes, such as quantities and versions, can only be compared with their class.
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

__all__ = ["comparable_with_own_class", "compare", "equal", "surely_equal"]

_NUMBERS: Final = frozenset({int, Uint, float})
_PLAIN: Final = frozenset({str, bool, bytes, Duration, Timestamp})
_EXCLUSIVE: dict[type, Callable[[Value, Value], bool]] = {}


def equal(left: Value, right: Value) -> bool:
    """Return whether two values are equal.

    Raises:
        CelEvaluationError: The first can only be compared with values of its class.
    """
    kind = type(left)
    # Most comparisons of selectors are of strings, so they come first.
    if kind is str:
        return type(right) is str and bool(left == right)
    if kind in _EXCLUSIVE:
        # The error is one-sided: a string compared with a quantity is just different.
        if type(right) is not kind:
            raise no_such_overload()
        return _EXCLUSIVE[kind](left, right)
    if left is None or right is None:
        return left is None and right is None
    if kind in _NUMBERS:
        return type(right) in _NUMBERS and _same_number(left, right)
    if kind in _PLAIN:
        return type(right) is kind and bool(left == right)
    if kind is list:
        return (
            type(right) is list
            and len(left) == len(right)
            and all(map(_not_different, left, right))
        )
    if kind in MAP_TYPES:
        return type(right) in MAP_TYPES and _same_map(left, right)
    if kind is Optional:
        return type(right) is Optional and _same_optional(left, right)
    return type(right) is kind and bool(left == right)


def comparable_with_own_class(
    kind: type, same: Callable[[Value, Value], bool] = operator.eq
) -> None:
    """Register a class whose values can only be compared with values of that class.

    Args:
        kind: The class.
        same: Returns whether two of its values are equal.
    """
    _EXCLUSIVE[kind] = same


def surely_equal(left: Value, right: Value) -> bool:
    """Return whether two values are equal; False if they cannot be compared."""
    try:
        return equal(left, right)
    except CelEvaluationError:
        return False


def _not_different(left: Value, right: Value) -> bool:
    """Compare members of lists and maps: upstream treats incomparable ones as equal."""
    try:
        return equal(left, right)
    except CelEvaluationError:
        return True


def _same_number(left: float, right: float) -> bool:
    if type(left) is float or type(right) is float:
        return (
            # NaN equals nothing, not even itself.
            left == left and right == right and _compare_with_double(left, right) == 0
        )
    return left == right


def _same_optional(left: Optional, right: Optional) -> bool:
    if left.present != right.present:
        return False
    for each in (left.value, right.value):
        if isinstance(each, CelEvaluationError):
            raise each
    return not left.present or equal(left.value, right.value)


def _same_map(left: dict[Value, Value], right: dict[Value, Value]) -> bool:
    if len(left) != len(right):
        return False
    for key, value in left.items():
        # A default map has each key.
        if key not in right and type(right) is not DefaultMap:
            return False
        if not _not_different(value, right[key]):
            return False
    return True


def _compare_with_double(left: float, right: float) -> int:
    """Compare two numbers of which at least one is a double; return -1, 0 or 1."""
    if type(left) is not float:
        return -_compare_with_double(right, left)
    # Bounds of the integer type, since a double beyond them cannot be converted to it.
    if type(right) is Uint:
        low, high = 0.0, 2.0**64
    else:
        low, high = -(2.0**63), 2.0**63
    if type(right) is not float:
        if left < low:
            return -1
        if left > high:
            return 1
        # As in Go, where the integer is converted, with the loss of digits beyond
        # 2**53.
        right = float(right)
    return (left > right) - (left < right)


def compare(left: Value, right: Value) -> int:
    """Return -1, 0 or 1 if the left value is less, equal or greater.

    Raises:
        CelEvaluationError: The values have no order.
    """
    kind = type(left)
    if kind in _NUMBERS and type(right) in _NUMBERS:
        if left != left or right != right:
            raise CelEvaluationError("NaN values cannot be ordered")
        if kind is float or type(right) is float:
            return _compare_with_double(left, right)
    elif kind is not type(right):
        raise no_such_overload()
    elif kind is Duration or kind is Timestamp:
        left, right = left.nanos, right.nanos
    elif kind is str:
        # Go orders strings by their bytes.
        left, right = left.encode(), right.encode()
    elif kind not in (bool, bytes):
        raise no_such_overload()
    return int(left > right) - int(left < right)
