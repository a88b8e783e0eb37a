"""Which overload of a function takes some values.

Mirrors the guards of ``common/decls/decls.go`` and ``IsAssignableRuntimeType`` of
``common/types/types.go`` (cel-go v0.26.0): the types of lists and maps are those of
their first members.
"""

from collections.abc import Callable, Sequence
from typing import Final

from kubernetes_cel.declarations import Overload
from kubernetes_cel.types import Kind, Type
from kubernetes_cel.values import (
    DefaultMap,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    from_key,
    no_such_overload,
)

__all__ = ["TYPE_NAMES", "dispatcher", "type_name"]

TYPE_NAMES: Final[dict[type, str]] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    DefaultMap: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeValue: "type",
}
"""The names of the types of values, by their classes; libraries add their own."""


def type_name(value: Value) -> str:
    """Return the name of the type of a value."""
    return TYPE_NAMES[type(value)]


def _takes(expected: Type, value: Value) -> bool:
    if expected.is_dynamic or expected.kind is Kind.PARAMETER:
        return True
    if expected.name != TYPE_NAMES[type(value)]:
        return False
    if expected.kind is Kind.LIST and value:
        return _takes(expected.parameters[0], value[0])
    if expected.kind is Kind.MAP and value:
        key = next(iter(value))
        return _takes(expected.parameters[0], from_key(key)) and _takes(
            expected.parameters[1], value[key]
        )
    return True


def _looks_inside(overload: Overload) -> bool:
    return any(
        each.kind in (Kind.LIST, Kind.MAP)
        and any(
            not inner.is_dynamic and inner.kind is not Kind.PARAMETER
            for inner in each.parameters
        )
        for each in overload.arguments
    )


def dispatcher(
    overloads: Sequence[Overload], count: int
) -> Callable[[tuple[Value, ...]], Overload]:
    """Return what finds the overload that takes some values.

    Args:
        overloads: Those to choose from; the first that fits is taken.
        count: How many values there are.

    Returns:
        A function from the values to the overload, which raises `CelEvaluationError`
        if there is none.
    """
    fitting = [each for each in overloads if len(each.arguments) == count]
    if any(map(_looks_inside, fitting)):
        return _by_members(fitting)
    return _by_class(fitting)


def _found(overloads: Sequence[Overload], values: tuple[Value, ...]) -> Overload | None:
    for overload in overloads:
        if not overload.guarded or all(map(_takes, overload.arguments, values)):
            return overload
    return None


def _by_members(
    overloads: Sequence[Overload],
) -> Callable[[tuple[Value, ...]], Overload]:
    def find(values: tuple[Value, ...]) -> Overload:
        found = _found(overloads, values)
        if found is None:
            raise no_such_overload()
        return found

    return find


def _by_class(overloads: Sequence[Overload]) -> Callable[[tuple[Value, ...]], Overload]:
    known: dict[tuple[type, ...], Overload | None] = {}

    def find(values: tuple[Value, ...]) -> Overload:
        kinds = tuple(map(type, values))
        try:
            found = known[kinds]
        except KeyError:
            found = known[kinds] = _found(overloads, values)
        if found is None:
            raise no_such_overload()
        return found

    return find
