"""The values of expressions.

=====================  =========================================================
type                   in Python
=====================  =========================================================
null, bool, int        ``None``, ``bool``, ``int``
uint                   `Uint`
double, string, bytes  ``float``, ``str``, ``bytes``
list, map              ``list``, ``dict`` (immutable by convention); keys of type
                       bool are `BoolKey`, because ``True`` equals 1 in a ``dict``
duration, timestamp    `Duration`, `Timestamp`
optional_type          `Optional`
type                   `TypeValue`
other types            classes of their libraries
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
    """An unsigned integer."""

    __slots__ = ()


@attrs.frozen
class Duration:
    """A span of time.

    Attributes:
        nanos: Its length in nanoseconds.
    """

    nanos: int


@attrs.frozen
class Timestamp:
    """A point in time.

    Attributes:
        nanos: Nanoseconds since 1970, UTC.
        offset: The offset of its time zone from UTC, in seconds.
    """

    nanos: int
    # Two timestamps of one moment are equal whatever their zones, as in Go's
    # ``Time.Equal``.
    offset: int = attrs.field(default=0, eq=False)


@attrs.frozen
class Optional:
    """A value that may be missing.

    Attributes:
        value: The value, or None.
        present: Whether it has a value.
    """

    value: Value
    present: bool = True


NONE: Final = Optional(None, present=False)
"""The optional value without a value."""


@attrs.frozen
class TypeValue:
    """A type that is itself a value.

    Attributes:
        name: Its name, without parameters.
    """

    name: str


@attrs.frozen
class BoolKey:
    """A bool as a key of a map."""

    value: bool


@attrs.frozen(eq=False)
# Lists and dicts cannot be hashed in Python. As keys they must be missing, not an
# error.
class _LostKey:
    """A list or map as a key, which no map contains."""

    value: Value


class DefaultMap(dict[str, Any]):
    """A map that returns an empty map for missing keys.

    Size, iteration and ``in`` do not include missing keys.
    """

    __slots__ = ()

    # A new map for each, so that nothing can be stored in a shared one.
    def __missing__(self, key: object) -> dict[str, Any]:
        return {}


MAP_TYPES: Final[frozenset[type[Any]]] = frozenset((dict, DefaultMap))
"""The classes of maps."""


def no_such_overload() -> CelEvaluationError:
    """Return the error of an operation that is not defined for some types."""
    return CelEvaluationError("no such overload")


_KEYS: Final = {True: BoolKey(True), False: BoolKey(False)}


def to_key(value: Value) -> Value:
    """Return the key of a ``dict`` that represents a value."""
    # ``True`` and 1 would be one key of a ``dict``, and are two keys in CEL.
    if type(value) is bool:
        return _KEYS[value]
    if type(value) in (list, dict, DefaultMap):
        return _LostKey(value)
    return value


def from_key(key: Value) -> Value:
    """Return the value that a key of a ``dict`` represents."""
    return key.value if type(key) in (BoolKey, _LostKey) else key
