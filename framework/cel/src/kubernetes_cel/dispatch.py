"""Finds the overload of a function that accepts some values.

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
"""The type names of values by class; libraries add those of their classes."""


def type_name(value: Value) -> str:
    """Return the name of the type of a value."""
    return TYPE_NAMES[type(value)]


def _takes(expected: Type, value: Value) -> bool:
    if expected.is_dynamic or expected.kind is Kind.PARAMETER:
        return True
    if expected.name != TYPE_NAMES[type(value)]:
        return False
    # Only the first member, here and below, as ``defaultIsAssignableRuntimeType``
    # (cel-go, common/types/types.go). A list of mixed types finds an overload by its
    # first element, and the error comes later.
    if expected.kind is Kind.LIST and value:
        return _takes(expected.parameters[0], value[0])
    if expected.kind is Kind.MAP and value:
        key = next(iter(value))
        return _takes(expected.parameters[0], from_key(key)) and _takes(
            expected.parameters[1], value[key]
        )
    return True


# The classes of the values decide alone unless an overload names the type of members,
# such as ``list(int)``.
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
    """Return a function that finds the overload that accepts some values.

    Args:
        overloads: The candidates; the first that accepts the values is used.
        count: The number of values.

    Returns:
        A function from the values to the overload. It raises `CelEvaluationError` if no
        overload accepts them.
    """
    fitting = [each for each in overloads if len(each.arguments) == count]
    if any(map(_looks_inside, fitting)):
        return _by_members(fitting)
    return _by_class(fitting)


def _first_match(
    overloads: Sequence[Overload], values: tuple[Value, ...]
) -> Overload | None:
    for overload in overloads:
        # These implementations check their values themselves, with errors of their own.
        if not overload.guarded or all(map(_takes, overload.arguments, values)):
            return overload
    return None


def _by_members(
    overloads: Sequence[Overload],
) -> Callable[[tuple[Value, ...]], Overload]:
    def find(values: tuple[Value, ...]) -> Overload:
        overload = _first_match(overloads, values)
        if overload is None:
            raise no_such_overload()
        return overload

    return find


def _by_class(overloads: Sequence[Overload]) -> Callable[[tuple[Value, ...]], Overload]:
    # The classes of the values decide, so the result is cached by class.
    cache: dict[tuple[type, ...], Overload | None] = {}

    def find(values: tuple[Value, ...]) -> Overload:
        kinds = tuple(map(type, values))
        try:
            overload = cache[kinds]
        except KeyError:
            overload = cache[kinds] = _first_match(overloads, values)
        if overload is None:
            raise no_such_overload()
        return overload

    return find
