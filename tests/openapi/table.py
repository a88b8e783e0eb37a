"""What the table of fields takes from the published OpenAPI of the API."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from tests.kit.internals.openapi import Scalar

__all__ = ["make_table"]

Reference: TypeAlias = int | list[int] | dict[str, int]

_PREFIX: Final = "#/definitions/"
# What has a form of its own in Go, where anything may be inside.
_FREE: Final = (
    "FieldsV1",
    "JSON",
    "JSONSchemaPropsOrArray",
    "JSONSchemaPropsOrBool",
    "JSONSchemaPropsOrStringArray",
    "Patch",
    "RawExtension",
)
_OWN_FORMS: Final = {
    "IntOrString": Scalar.INT_OR_STRING,
    "MicroTime": Scalar.STRING,
    "Quantity": Scalar.QUANTITY,
    "Time": Scalar.STRING,
}
_FORMS: Final = {
    ("string", ""): Scalar.STRING,
    ("string", "byte"): Scalar.BYTES,
    ("integer", "int32"): Scalar.INT32,
    ("integer", "int64"): Scalar.INT64,
    ("number", "double"): Scalar.NUMBER,
    ("boolean", ""): Scalar.BOOLEAN,
}


def make_table(swagger: Mapping[str, Any]) -> dict[str, Any]:
    """All kinds of objects, and the fields of all that they are made of.

    Args:
        swagger: The OpenAPI (version 2) of the whole API.

    Returns:
        ``kinds`` has the number of each kind's structure, by group, version and kind;
        ``structures`` the fields of each of these. A field is 0 if anything may be
        inside, the number of a structure or of a simple type, or such a number in a
        list or a map.
    """
    definitions = swagger["definitions"]
    kinds = {
        f"{_api_version(kind)} {kind['kind']}": name
        for name, definition in definitions.items()
        if _is_object(definition.get("properties", {}))
        for kind in definition.get("x-kubernetes-group-version-kind", ())
    }
    numbers = _numbers(definitions, kinds.values())
    structures = [
        {
            field: _reference(value, numbers)
            for field, value in definitions[name].get("properties", {}).items()
        }
        for name in numbers
    ]
    return {
        "kinds": {kind: numbers[name] for kind, name in kinds.items()},
        "structures": [{}, *structures],
    }


def _is_object(fields: Mapping[str, Any]) -> bool:
    """Whether these are the fields of an object, and not of a list of them."""
    return "metadata" in fields and "items" not in fields


def _api_version(kind: Mapping[str, str]) -> str:
    return f"{kind['group']}/{kind['version']}".lstrip("/")


def _numbers(definitions: Mapping[str, Any], roots: Iterable[str]) -> dict[str, int]:
    """Number all that can be reached, from 1, in the order of names."""
    found: set[str] = set()
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name in found or _last(name) in (*_FREE, *_OWN_FORMS):
            continue
        found.add(name)
        for value in definitions[name].get("properties", {}).values():
            inner = value.get("items") or value.get("additionalProperties") or value
            if "$ref" in inner:
                todo.append(inner["$ref"].removeprefix(_PREFIX))
    return {name: number for number, name in enumerate(sorted(found), 1)}


def _reference(value: Mapping[str, Any], numbers: Mapping[str, int]) -> Reference:
    if "items" in value:
        number = _reference(value["items"], numbers)
        return [number if isinstance(number, int) else 0]
    if "additionalProperties" in value:
        number = _reference(value["additionalProperties"], numbers)
        return {"": number if isinstance(number, int) else 0}
    name = value.get("$ref", "").removeprefix(_PREFIX)
    if name:
        return _OWN_FORMS.get(_last(name), numbers.get(name, 0))
    return _FORMS.get((value.get("type", ""), value.get("format", "")), 0)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
