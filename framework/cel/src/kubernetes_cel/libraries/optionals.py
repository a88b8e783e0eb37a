"""Optional values.

Mirrors the optional library of ``cel/library.go`` version 2 (cel-go v0.26.0).
"""

from typing import Final

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.values import NONE, Duration, Optional, Timestamp, Uint, Value

__all__ = ["OVERLOADS"]

# Go's zero time, the first moment of year 1.
_FIRST_MOMENT: Final = Timestamp(-62135596800 * 10**9)
_WITH_ZEROS: Final = frozenset({bool, int, Uint, float, str, bytes, list, dict})


def _is_zero(value: Value) -> bool:
    if type(value) is Duration:
        return value.nanos == 0
    if type(value) is Timestamp:
        return bool(value == _FIRST_MOMENT)
    # By class, not by truth alone: quantities and other types of libraries are never
    # zero values here.
    return value is None or (type(value) in _WITH_ZEROS and not value)


def _of_non_zero(value: Value) -> Optional:
    return NONE if _is_zero(value) else Optional(value)


def _value(optional: Optional) -> Value:
    if not optional.present:
        raise CelEvaluationError("optional.none() dereference")
    # An optional value can contain the error of its conversion.
    if isinstance(optional.value, CelEvaluationError):
        raise optional.value
    return optional.value


def _unwrap(values: list[Value]) -> list[Value]:
    for value in values:
        if type(value) is not Optional:
            raise CelEvaluationError(f"value {value} is not optional")
    return [value.value for value in values if value.present]


def _alternative(*_: Value) -> Value:
    raise AssertionError("the compiler replaces this function")


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("optional_of", "optional.of(V) -> optional(V)", Optional),
    function(
        "optional_ofNonZeroValue", "optional.ofNonZeroValue(V) -> optional(V)",
        _of_non_zero,
    ),
    function("optional_none", "optional.none() -> optional(V)", lambda: NONE),
    method("optional_value", "optional(V).value() -> V", _value),
    method(
        "optional_hasValue", "optional(V).hasValue() -> bool", lambda each: each.present
    ),
    method(
        "optional_or_optional", "optional(V).or(optional(V)) -> optional(V)",
        _alternative,
    ),
    method("optional_orValue_value", "optional(V).orValue(V) -> V", _alternative),
    method(
        "list_last", "list(V).last() -> optional(V)",
        lambda each: Optional(each[-1]) if each else NONE,
    ),
    method(
        "list_first", "list(V).first() -> optional(V)",
        lambda each: Optional(each[0]) if each else NONE,
    ),
    function(
        "optional_unwrap", "optional.unwrap(list(optional(V))) -> list(V)", _unwrap
    ),
    method(
        "optional_unwrapOpt", "list(optional(V)).unwrapOpt() -> list(V)", _unwrap
    ),
)  # fmt: skip
