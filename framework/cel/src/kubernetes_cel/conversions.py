"""The words of cel-go for values of a wrong type.

Mirrors the methods ``ConvertToNative`` of ``common/types`` (cel-go v0.29) and of
``pkg/cel`` (k8s.io/apiserver v0.37), and the names that Go prints for their types.
"""

from collections.abc import Mapping
from typing import Final

from kubernetes_cel.dispatch import type_name
from kubernetes_cel.values import Value

__all__ = ["conversion_problem", "go_type_name"]

_CONVERSION_ERROR: Final = "type conversion error from {} to 'bool'"
_PROBLEMS: Final[Mapping[str, str]] = {
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "string": "unsupported native conversion from string to 'bool'",
    "double": _CONVERSION_ERROR.format("Double"),
    "bytes": _CONVERSION_ERROR.format("Bytes"),
    "list": _CONVERSION_ERROR.format("list"),
    "map": _CONVERSION_ERROR.format("map"),
    "null_type": _CONVERSION_ERROR.format("'null_type'"),
    "google.protobuf.Duration": _CONVERSION_ERROR.format("'Duration'"),
    "google.protobuf.Timestamp": _CONVERSION_ERROR.format("'Timestamp'"),
    "type": "type conversion not supported for 'type'",
}
"""Type -> why its values are not bools; the types of Kubernetes have a rule."""

_GO_TYPES: Final[Mapping[str, str]] = {
    "bool": "types.Bool",
    "int": "types.Int",
    "uint": "types.Uint",
    "double": "types.Double",
    "string": "types.String",
    "bytes": "types.Bytes",
    "null_type": "types.Null",
    "google.protobuf.Duration": "types.Duration",
    "google.protobuf.Timestamp": "types.Timestamp",
    "optional_type": "*types.Optional",
    "type": "*types.Type",
    "kubernetes.NamedFormat": "*cel.Format",
}


def conversion_problem(value: Value) -> str:
    """Return why a value cannot be converted to a bool."""
    name = type_name(value)
    default = _CONVERSION_ERROR.format(f"'{name.rpartition('.')[2]}'")
    return _PROBLEMS.get(name, default)


def go_type_name(value: Value) -> str:
    """Return the name that Go prints for the type of a value."""
    name = type_name(value)
    return _GO_TYPES.get(name, f"cel.{name.rpartition('.')[2]}")
