"""Extracts the table of fields from the published OpenAPI of the API."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from tests.kit.internals.openapi import Scalar
from tests.openapi.gated_fields import Fields

__all__ = ["make_table"]

Reference: TypeAlias = int | list[int] | dict[str, int]
Definitions: TypeAlias = Mapping[str, Any]

_PREFIX: Final = "#/definitions/"
_API: Final = "io.k8s.api."
# Types with their own JSON form in Go, which may contain anything.
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


def make_table(
    versions: Mapping[str, Definitions],
    gates: Mapping[str, Mapping[str, bool]],
    gated: Mapping[str, Mapping[str, Fields]],
) -> dict[str, Any]:
    """Return all kinds of objects, and the fields of all their structures.

    Args:
        versions: The definitions of the OpenAPI (version 2) of each minor version, from
            the oldest on.
        gates: The gates of each version, with their defaults.
        gated: File -> gate -> structure -> fields that are dropped without the gate.

    Returns:
        ``kinds`` has the number of each kind's structure, by group, version and kind;
        ``structures`` the fields of each of these. A field is 0 if anything may be
        inside, the number of a structure or of a simple type, or such a number in a
        list or a map. Both have what any version has; ``kinds_by_version`` and
        ``fields_by_version`` list, by the versions that have them, what the other
        versions do not have. ``gated`` has the fields of each gate, and ``gates`` the
        versions in which it is on by default.
    """
    kinds = {version: _kinds(definitions) for version, definitions in versions.items()}
    numbers = _numbers(versions, kinds)
    fields = {
        version: _structures(definitions, numbers)
        for version, definitions in versions.items()
    }
    gated_fields = _gated(gated.values(), numbers)
    return {
        "kinds": {
            kind: numbers[name]
            for names in kinds.values()
            for kind, name in names.items()
        },
        "kinds_by_version": _by_version(kinds),
        "structures": [{}, *(_union(name, fields.values()) for name in numbers)],
        "fields_by_version": _fields_by_version(fields, numbers),
        "gated": gated_fields,
        "gates": {
            gate: [version for version, own in gates.items() if own.get(gate)]
            for gate in gated_fields
        },
    }


def _kinds(definitions: Definitions) -> dict[str, str]:
    """Return the names of the definitions of all kinds of objects."""
    return {
        f"{_api_version(kind)} {kind['kind']}": name
        for name, definition in definitions.items()
        if _is_object(definition.get("properties", {}))
        for kind in definition.get("x-kubernetes-group-version-kind", ())
    }


def _is_object(fields: Mapping[str, Any]) -> bool:
    """Whether these are the fields of an object, and not of a list of them."""
    return "metadata" in fields and "items" not in fields


def _api_version(kind: Mapping[str, str]) -> str:
    return f"{kind['group']}/{kind['version']}".lstrip("/")


def _numbers(
    versions: Mapping[str, Definitions], kinds: Mapping[str, Mapping[str, str]]
) -> dict[str, int]:
    """Number all reachable definitions, from 1, in the order of names."""
    reachable: set[str] = set()
    for version, definitions in versions.items():
        reachable |= _reachable(definitions, kinds[version].values())
    return {name: number for number, name in enumerate(sorted(reachable), 1)}


def _reachable(definitions: Definitions, roots: Iterable[str]) -> set[str]:
    names: set[str] = set()
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name in names or _last(name) in (*_FREE, *_OWN_FORMS):
            continue
        names.add(name)
        for value in definitions[name].get("properties", {}).values():
            inner = value.get("items") or value.get("additionalProperties") or value
            if "$ref" in inner:
                todo.append(inner["$ref"].removeprefix(_PREFIX))
    return names


def _structures(
    definitions: Definitions, numbers: Mapping[str, int]
) -> dict[str, dict[str, Reference]]:
    """The fields of each structure that a version has, by its name."""
    return {
        name: {
            field: _reference(value, numbers)
            for field, value in definitions[name].get("properties", {}).items()
        }
        for name in numbers
        if name in definitions
    }


def _union(
    name: str, versions: Iterable[Mapping[str, Mapping[str, Reference]]]
) -> dict[str, Reference]:
    """Return the fields of a structure in all versions, which must agree on types."""
    union: dict[str, Reference] = {}
    for structures in versions:
        for field, reference in structures.get(name, {}).items():
            if union.setdefault(field, reference) != reference:
                raise ValueError(f"{name}.{field} has several types")
    return union


def _by_version(members: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return what only some versions have, by these versions (``1.36,1.37``)."""
    marks: dict[str, list[str]] = {}
    for member in sorted(set().union(*members.values())):
        having = [version for version in members if member in members[version]]
        if len(having) < len(members):
            marks.setdefault(",".join(having), []).append(member)
    return marks


def _fields_by_version(
    versions: Mapping[str, Mapping[str, Mapping[str, Reference]]],
    numbers: Mapping[str, int],
) -> dict[str, dict[int, list[str]]]:
    """Return the same for the fields of structures of several versions."""
    marks: dict[str, dict[int, list[str]]] = {}
    for name, number in numbers.items():
        fields = {
            version: structures[name]
            for version, structures in versions.items()
            if name in structures
        }
        for having, members in _by_version(fields).items():
            marks.setdefault(having, {})[number] = members
    return marks


def _gated(
    files: Iterable[Mapping[str, Fields]], numbers: Mapping[str, int]
) -> dict[str, dict[int, list[str]]]:
    gated: dict[str, dict[int, list[str]]] = {}
    for gate, name, fields in _rules(files):
        members = gated.setdefault(gate, {})
        number = numbers[f"{_API}{name}"]
        members[number] = sorted({*members.get(number, ()), *fields})
    return gated


def _rules(
    files: Iterable[Mapping[str, Fields]],
) -> Iterator[tuple[str, str, Sequence[str]]]:
    for gates in files:
        for gate, structures in gates.items():
            for name, fields in structures.items():
                yield gate, name, fields


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
