"""Fields, keys and indexes of values.

Mirrors ``interpreter/attributes.go`` (cel-go v0.26.0). A name with the fields and
indexes that follow it is a chain. A chain unwraps an optional value at its start, and
after a field or index with ``?``. Then the result of the chain is optional.
"""

from collections.abc import Callable
from typing import Final

from kubernetes_cel.dispatch import type_name
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.frames import Constant, Evaluate, Frame
from kubernetes_cel.values import (
    MAP_TYPES,
    NONE,
    DefaultMap,
    Optional,
    TypeValue,
    Uint,
    Value,
    to_key,
)

__all__ = [
    "Convert",
    "begun",
    "by_key",
    "is_present",
    "native",
    "step",
    "unchanged",
    "usable",
    "without_native_form",
]

Convert = Callable[[Value], Value]
"""Converts the content of an optional value when a chain unwraps it."""

_FORMLESS: Final[set[type]] = set()


class _Passing:
    """An intermediate value of a chain whose result is optional."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


_ABSENT: Final = _Passing(None)
"""The intermediate value of an optional chain that found no value."""


def without_native_form(kind: type) -> None:
    """Register a class that upstream cannot convert back from its native form."""
    _FORMLESS.add(kind)


def unchanged(value: Value) -> Value:
    """Return the content of an optional value, as cel-go v0.29.2 does (1.37)."""
    return value


def native(value: Value) -> Value:
    """Return the native form of the content, as cel-go v0.26.0 does (1.36)."""
    kind = type(value)
    if kind in _FORMLESS:
        return CelEvaluationError(
            f"unsupported conversion to ref.Val: {type_name(value)}"
        )
    if kind is TypeValue:
        return value.name
    if kind is Optional:
        return native(value.value) if value.present else None
    return value


def begun(value: Value, convert: Convert) -> Value:
    """Return the value of a chain without fields and indexes."""
    # An absent value stays absent, and needs no conversion.
    if type(value) is Optional and value.present:
        return Optional(convert(value.value))
    return value


def _entered(value: Value, convert: Convert, *, first: bool) -> Value:
    """Return the value of a chain before a field or index is applied to it."""
    if not first or type(value) is not Optional:
        return value
    if not value.present:
        return _ABSENT
    inner = convert(value.value)
    if isinstance(inner, CelEvaluationError):
        # The error belongs to this step of the chain, not to the place where the value
        # was made.
        raise inner
    return _Passing(inner)


def step(
    operand: Evaluate,
    index: Evaluate,
    convert: Convert,
    *,
    first: bool,
    last: bool,
    optional: bool,
    pay: Callable[[Frame], None] | None = None,
) -> Evaluate:
    """Compile a field or an index of a value.

    Args:
        operand: The value.
        index: The name, key or index.
        convert: Converts the content of an optional value.
        first: Whether it is the first field or index of its chain.
        last: Whether it is the last one.
        optional: Whether it is written with ``?``.
        pay: Adds its cost if the program is metered, or None. Optional values have a
            cost only if they are present.
    """

    def member(frame: Frame) -> Value:
        value = _entered(operand(frame), convert, first=first)
        # Once absent, the rest of the chain is skipped, with its indexes and their
        # costs.
        if value is _ABSENT:
            entered = _ABSENT
        elif type(value) is _Passing:
            entered = _member_of(value.value, index(frame))
        elif optional:
            entered = _member_of(value, index(frame))
        else:
            try:
                return _indexed(value, index(frame))
            # Also a failed lookup costs.
            finally:
                if pay:
                    pay(frame)
        if pay and entered is not _ABSENT:
            pay(frame)
        if not last:
            return entered
        return NONE if entered is _ABSENT else Optional(entered.value)

    return member


def _indexed(value: Value, index: Value) -> Value:
    kind = type(value)
    if kind in MAP_TYPES:
        try:
            # Keys of different number types are the same key in CEL: ``m[1u]`` finds
            # ``1``.
            return value[to_key(usable(index))]
        except KeyError:
            raise _missing_key(index) from None
    if kind is list:
        at = _position(index)
        if 0 <= at < len(value):
            return value[at]
        raise CelEvaluationError(f"index out of bounds: {index}")
    raise _missing_key(usable(index))


def _member_of(value: Value, index: Value) -> _Passing:
    kind = type(value)
    if kind in MAP_TYPES:
        key = to_key(usable(index))
        if key in value or kind is DefaultMap:
            return _Passing(value[key])
        return _ABSENT
    if kind is list:
        at = _position(index)
        return _Passing(value[at]) if 0 <= at < len(value) else _ABSENT
    # An index of a wrong type is an error even where nothing can be found.
    usable(index)
    return _ABSENT


def is_present(value: Value, field: str, convert: Convert, *, first: bool) -> bool:
    """Return the value of ``has(value.field)``."""
    entered = _entered(value, convert, first=first)
    if type(entered) is _Passing:
        return entered is not _ABSENT and is_present(
            entered.value, field, convert, first=False
        )
    if type(entered) is list:
        # Raises the error of a field of a list, which upstream reports, too.
        _position(field)
    if type(entered) in MAP_TYPES:
        return field in entered or type(entered) is DefaultMap
    return False


def usable(index: Value) -> Value:
    """Return an index if its type is valid for indexes.

    Raises:
        CelEvaluationError: The type is not valid.
    """
    if type(index) in (bool, int, Uint, float, str):
        return index
    raise CelEvaluationError(f"invalid qualifier type: {type_name(index)}")


def _position(index: Value) -> int:
    kind = type(index)
    if kind is int or kind is Uint:
        return int(index)
    # CEL accepts 1.0 as an index, because numbers of different types are equal.
    if kind is float and index.is_integer():
        return int(index)
    raise CelEvaluationError(f"unsupported index type '{type_name(index)}' in list")


def _missing_key(index: Value) -> CelEvaluationError:
    shown = str(index).lower() if type(index) is bool else index
    return CelEvaluationError(f"no such key: {shown}")


def by_key(
    operand: Evaluate, key: str, convert: Convert, *, first: bool, last: bool
) -> Evaluate:
    """Compile a member with a constant name.

    Most members are keys that their map has, so that lookup comes first.
    """
    # Only for what is not a plain lookup: optional values, errors, default maps.
    otherwise = step(
        lambda frame: frame[-1],
        Constant(key),
        convert,
        first=first,
        last=last,
        optional=False,
    )

    def member(frame: Frame) -> Value:
        owner = operand(frame)
        try:
            return owner[key]
        # A list or another value without keys; the slow way gives the right error.
        except (KeyError, TypeError):
            return otherwise([owner])

    return member
