"""Fields, keys and indexes of values.

Mirrors ``interpreter/attributes.go`` (cel-go v0.26.0).
"""

from quaymaster._cel.dispatch import type_name
from quaymaster._cel.errors import CelEvaluationError
from quaymaster._cel.values import (
    MAP_TYPES,
    NONE,
    DefaultMap,
    Optional,
    Uint,
    Value,
    to_key,
)

__all__ = ["attribute", "find", "indexed", "is_present", "usable"]


def attribute(value: Value, name: str) -> Value:
    """Return a field by its name, from whatever has it.

    Raises:
        CelEvaluationError: There is no such field.
    """
    return indexed(value, name)


def indexed(value: Value, index: Value) -> Value:
    """Return what a list or a map has at an index.

    Of an optional value it is the optional member.

    Raises:
        CelEvaluationError: There is no such member.
    """
    kind = type(value)
    if kind is Optional:
        return find(value, index)
    if kind in MAP_TYPES:
        key = to_key(usable(index))
        try:
            return value[key]
        except KeyError:
            raise _missing_key(index) from None
    if kind is list:
        at = _position(index)
        if 0 <= at < len(value):
            return value[at]
        raise CelEvaluationError(f"index out of bounds: {index}")
    raise _missing_key(usable(index))


def find(value: Value, index: Value) -> Optional:
    """Return what a list or a map has at an index, if it has.

    Raises:
        CelEvaluationError: The index is of a wrong type.
    """
    if type(value) is Optional:
        if not value.present:
            return NONE
        value = value.value
    kind = type(value)
    if kind in MAP_TYPES:
        key = to_key(usable(index))
        if key in value or kind is DefaultMap:
            return Optional(value[key])
        return NONE
    if kind is list:
        at = _position(index)
        return Optional(value[at]) if 0 <= at < len(value) else NONE
    usable(index)
    return NONE


def is_present(value: Value, field: str) -> bool:
    """Say whether ``has(value.field)``."""
    if type(value) is Optional:
        return value.present and is_present(value.value, field)
    if type(value) is list:
        _position(field)
    if type(value) in MAP_TYPES:
        return field in value or type(value) is DefaultMap
    return False


def usable(index: Value) -> Value:
    """Return an index if it is of a type that indexes have.

    Raises:
        CelEvaluationError: It is not.
    """
    if type(index) in (bool, int, Uint, float, str):
        return index
    raise CelEvaluationError(f"invalid qualifier type: {type_name(index)}")


def _position(index: Value) -> int:
    kind = type(index)
    if kind is int or kind is Uint:
        return int(index)
    if kind is float and index.is_integer():
        return int(index)
    raise CelEvaluationError(f"unsupported index type '{type_name(index)}' in list")


def _missing_key(index: Value) -> CelEvaluationError:
    shown = str(index).lower() if type(index) is bool else index
    return CelEvaluationError(f"no such key: {shown}")
