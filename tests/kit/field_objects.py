"""Objects that have one field of the API, made from the table of fields."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.kit.internals.openapi import FieldTable, Reference, Scalar

__all__ = ["fields_below", "object_with"]

Step = str | None
"""A field or a key of a map; None for the only item of a list."""

_DEEPEST: Final = 16
_KEY: Final = "key"
_VALUES: Final[Mapping[int, Any]] = {
    0: {"a": "b"},
    Scalar.STRING: "a",
    Scalar.INT32: 1,
    Scalar.INT64: 1,
    Scalar.NUMBER: 1.5,
    Scalar.BOOLEAN: True,
    Scalar.BYTES: "YQ==",
    Scalar.INT_OR_STRING: 1,
    Scalar.QUANTITY: "1",
}


def fields_below(
    table: FieldTable, structure: int
) -> Iterator[tuple[int, str, tuple[Step, ...]]]:
    """All fields of a kind: the structure and name of each, and a way that leads there.

    Args:
        table: The table of fields.
        structure: That of the kind.
    """
    ways: dict[int, tuple[Step, ...]] = {structure: ()}
    level = [structure]
    while level:
        deeper: list[int] = []
        for number in level:
            for field, reference in table.fields_of(number).items():
                way, inner = _inner((*ways[number], field), reference)
                yield number, field, (*ways[number], field)
                if inner > 0 and inner not in ways:
                    ways[inner] = way
                    deeper.append(inner)
        level = deeper


def _inner(way: tuple[Step, ...], reference: Reference) -> tuple[tuple[Step, ...], int]:
    if isinstance(reference, list):
        return (*way, None), reference[0]
    if isinstance(reference, dict):
        return (*way, _KEY), reference[""]
    return way, reference


def object_with(
    table: FieldTable, kind: str, structure: int, field: str, way: tuple[Step, ...]
) -> tuple[dict[str, Any], str]:
    """An object with a field, and the path of the field.

    Args:
        table: The table of fields.
        kind: The version and kind of the object.
        structure: The structure that has the field.
        field: Its name.
        way: What leads to it.
    """
    api_version, _, name = kind.rpartition(" ")
    tree: Any = _value(table, table.fields_of(structure)[field])
    for step in reversed(way):
        tree = [tree] if step is None else {step: tree}
    path = "".join("[0]" if step is None else f".{step}" for step in way)
    metadata = {"name": "a", **tree.pop("metadata", {})}
    return {
        "apiVersion": api_version,
        "kind": name,
        "metadata": metadata,
        **tree,
    }, path[1:]


def _value(table: FieldTable, reference: Reference, depth: int = 0) -> Any:
    """Some value that a field may hold, which is not empty."""
    if isinstance(reference, list):
        return [_value(table, reference[0], depth)]
    if isinstance(reference, dict):
        return {_KEY: _value(table, reference[""], depth)}
    if reference <= 0:
        return _VALUES[reference]
    assert depth < _DEEPEST, reference
    fields = table.enabled_fields_of(reference)
    field = next(
        (
            name
            for name, inner in fields.items()
            if isinstance(inner, int) and inner <= 0
        ),
        next(iter(fields), ""),
    )
    return {field: _value(table, fields[field], depth + 1)} if field else {}
