"""The types of expressions.

Mirrors ``common/types/types.go`` (cel-go v0.26.0).
"""

import enum
import functools
import re
from typing import Final

import attrs

__all__ = [
    "ANY",
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "ERROR",
    "INT",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "UINT",
    "Kind",
    "Type",
    "list_type",
    "map_type",
    "optional_type",
    "type_named",
    "type_type",
]


class Kind(enum.Enum):
    """The kinds of types."""

    ANY = "any"
    BOOL = "bool"
    BYTES = "bytes"
    DOUBLE = "double"
    DURATION = "google.protobuf.Duration"
    DYN = "dyn"
    ERROR = "!error!"
    INT = "int"
    LIST = "list"
    MAP = "map"
    NULL = "null_type"
    OPAQUE = "opaque"
    PARAMETER = "parameter"
    STRING = "string"
    STRUCT = "struct"
    TIMESTAMP = "google.protobuf.Timestamp"
    TYPE = "type"
    UINT = "uint"


_SHOWN: Final = {
    Kind.DURATION: "duration",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}
"""The kinds that have another name in error messages."""


@attrs.frozen(cache_hash=True)
class Type:
    """A type.

    Attributes:
        kind: Its kind.
        name: Its name, without parameters.
        parameters: The types in its parentheses.
    """

    kind: Kind
    name: str
    parameters: tuple["Type", ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def shown(self) -> str:
        """The type as error messages show it.

        Mirrors ``FormatCELType`` of ``checker/format.go``.
        """
        name = _SHOWN.get(self.kind, self.name)
        if not self.parameters:
            return name
        return f"{name}({', '.join(each.shown for each in self.parameters)})"

    @property
    def is_dynamic(self) -> bool:
        """Whether the type of values is unknown before the evaluation."""
        return self.kind is Kind.DYN or self.kind is Kind.ANY

    @property
    def is_optional(self) -> bool:
        """Whether it is the type of optional values."""
        return self.kind is Kind.OPAQUE and self.name == "optional_type"


def _plain(kind: Kind) -> Type:
    return Type(kind, kind.value)


ANY: Final = _plain(Kind.ANY)
BOOL: Final = _plain(Kind.BOOL)
BYTES: Final = _plain(Kind.BYTES)
DOUBLE: Final = _plain(Kind.DOUBLE)
DURATION: Final = _plain(Kind.DURATION)
DYN: Final = _plain(Kind.DYN)
ERROR: Final = _plain(Kind.ERROR)
INT: Final = _plain(Kind.INT)
NULL: Final = _plain(Kind.NULL)
STRING: Final = _plain(Kind.STRING)
TIMESTAMP: Final = _plain(Kind.TIMESTAMP)
UINT: Final = _plain(Kind.UINT)


def list_type(element: Type) -> Type:
    """Return the type of lists."""
    return Type(Kind.LIST, "list", (element,))


def map_type(key: Type, value: Type) -> Type:
    """Return the type of maps."""
    return Type(Kind.MAP, "map", (key, value))


def optional_type(value: Type) -> Type:
    """Return the type of optional values."""
    return Type(Kind.OPAQUE, "optional_type", (value,))


def type_type(*parameters: Type) -> Type:
    """Return the type of types."""
    return Type(Kind.TYPE, "type", parameters)


_NAMES: Final = {
    **{
        kind.value: _plain(kind)
        for kind in (Kind.ANY, Kind.BOOL, Kind.BYTES, Kind.DOUBLE, Kind.DYN)
    },
    **{kind.value: _plain(kind) for kind in (Kind.INT, Kind.NULL, Kind.STRING)},
    "uint": UINT,
    "duration": DURATION,
    "timestamp": TIMESTAMP,
    **{
        name: Type(Kind.STRUCT, name)
        for name in (
            "kubernetes.Quantity",
            "kubernetes.Semver",
            "kubernetes.URL",
            "kubernetes.NamedFormat",
            "kubernetes.authorization.Authorizer",
            "kubernetes.authorization.Decision",
            "kubernetes.authorization.GroupCheck",
            "kubernetes.authorization.PathCheck",
            "kubernetes.authorization.ResourceCheck",
        )
    },
    "net.IP": Type(Kind.OPAQUE, "net.IP"),
    "net.CIDR": Type(Kind.OPAQUE, "net.CIDR"),
}
_WORD: Final = re.compile(r"[A-Za-z_.]+|[(),]")


@functools.cache
def type_named(text: str) -> Type:
    """Return the type of a text such as ``map(K, list(string))``.

    Single capital letters are type parameters.

    Raises:
        ValueError: The text is not a type.
    """
    words = _WORD.findall(text.replace(" ", ""))
    type_, rest = _read(words)
    if rest:
        raise ValueError(f"not a type: {text}")
    return type_


def _read(words: list[str]) -> tuple[Type, list[str]]:
    name, *rest = words
    parameters: list[Type] = []
    if rest and rest[0] == "(":
        while rest[0] != ")":
            parameter, rest = _read(rest[1:])
            parameters.append(parameter)
        rest = rest[1:]
    return _made(name, tuple(parameters)), rest


def _made(name: str, parameters: tuple[Type, ...]) -> Type:
    match name, parameters:
        case "list", (element,):
            return list_type(element)
        case "map", (key, value):
            return map_type(key, value)
        case "optional", (value,):
            return optional_type(value)
        case "type", _:
            return type_type(*parameters)
        case _ if len(name) == 1:
            return Type(Kind.PARAMETER, name)
        case _ if name in _NAMES:
            return _NAMES[name]
    raise ValueError(f"not a type: {name}")
