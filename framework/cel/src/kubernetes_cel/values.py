"""What expressions are made of while they are evaluated.

=====================  =========================================================
type                   in Python
=====================  =========================================================
null, bool, int        ``None``, ``bool``, ``int``
uint                   `Uint`
double, string, bytes  ``float``, ``str``, ``bytes``
list, map              ``list``, ``dict`` (never changed); keys that are true or
                       false are `BoolKey`, for ``True`` is 1 to a ``dict``
duration, timestamp    `Duration`, `Timestamp`
optional_type          `Optional`
type                   `TypeValue`
others                 classes of their libraries
=====================  =========================================================
"""

from typing import Any, Final, TypeAlias

import attrs

from kubernetes_cel.errors import CelEvaluationError

__all__ = [
    "MAP_TYPES",
    "MAX_INT",
    "MAX_UINT",
    "MIN_INT",
    "NONE",
    "BoolKey",
    "DefaultMap",
    "Duration",
    "Optional",
    "Timestamp",
    "TypeValue",
    "Uint",
    "Value",
    "from_key",
    "no_such_overload",
    "to_key",
]

Value: TypeAlias = Any
"""The value of an expression: one of the table above."""

MAX_INT: Final = 2**63 - 1
MIN_INT: Final = -(2**63)
MAX_UINT: Final = 2**64 - 1


class Uint(int):
    """An integer without a sign."""

    __slots__ = ()


@attrs.frozen
class Duration:
    """A span of time.

    Attributes:
        nanos: Its length, in nanoseconds.
    """

    nanos: int


@attrs.frozen
class Timestamp:
    """A moment.

    Attributes:
        nanos: Nanoseconds since 1970, UTC.
        offset: Seconds east of UTC of the zone that it is written in.
    """

    nanos: int
    offset: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Optional:
    """A value that may be missing.

    Attributes:
        value: The value.
        present: Whether there is one.
    """

    value: Value
    present: bool = True


NONE: Final = Optional(None, present=False)
"""No value."""


@attrs.frozen
class TypeValue:
    """A type as a value.

    Attributes:
        name: Its name, without parameters.
    """

    name: str


@attrs.frozen
class BoolKey:
    """True or false as a key of a map."""

    value: bool


@attrs.frozen(eq=False)
class _LostKey:
    """A list or map as a key, under which nothing is found."""

    value: Value


class DefaultMap(dict[str, Any]):
    """A map in which every key that is looked up has a value; it is never changed.

    Only what is there is counted, iterated and found by ``in``.
    """

    __slots__ = ()

    def __missing__(self, key: object) -> dict[str, Any]:
        return {}


MAP_TYPES: Final[frozenset[type[Any]]] = frozenset((dict, DefaultMap))
"""The classes of maps."""


def no_such_overload() -> CelEvaluationError:
    """Return the error of an operation that there is not for some types."""
    return CelEvaluationError("no such overload")


_KEYS: Final = {True: BoolKey(True), False: BoolKey(False)}


def to_key(value: Value) -> Value:
    """Return what stands for a value as a key of a ``dict``."""
    if type(value) is bool:
        return _KEYS[value]
    if type(value) in (list, dict, DefaultMap):
        return _LostKey(value)
    return value


def from_key(key: Value) -> Value:
    """Return the value that a key of a ``dict`` stands for."""
    return key.value if type(key) in (BoolKey, _LostKey) else key
