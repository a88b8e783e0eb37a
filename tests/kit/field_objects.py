"""Objects that have one field of the API, made from the table of fields."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from tests.kit.internals.openapi import FieldTable, Reference, Scalar

__all__ = ["FieldPlace", "field_places", "object_with"]

Way: TypeAlias = tuple[str | None, ...]
"""Fields and keys of maps; None is the only item of a list."""

_KEY: Final = "key"
_VALUES: Final[Mapping[int, object]] = {
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


class FieldPlace(NamedTuple):
    """A field of a kind of object.

    Attributes:
        structure: What has the field.
        field: Its name.
        way: What leads to it.
    """

    structure: int
    field: str
    way: Way

    @property
    def path(self) -> str:
        """Its path, as messages have it."""
        steps = ("[0]" if step is None else f".{step}" for step in self.way)
        return "".join(steps).removeprefix(".")


def field_places(
    table: FieldTable, kind: str, through: FieldTable
) -> Iterator[FieldPlace]:
    """All fields of a kind, each structure by the shortest way to it.

    Args:
        table: The table of fields.
        kind: Such as ``apps/v1 Deployment``.
        through: The table that has all fields on the ways, with their gates on.
    """
    ways: dict[int, Way] = {table.kinds[kind]: ()}
    todo = list(ways)
    for structure in todo:
        for field, reference in table.fields_of(structure).items():
            way = (*ways[structure], field)
            yield FieldPlace(structure, field, way)
            inner_way, inner = _inside(way, reference)
            is_open = field in through.enabled_fields_of(structure)
            if is_open and inner > 0 and inner not in ways:
                ways[inner] = inner_way
                todo.append(inner)


def _inside(way: Way, reference: Reference) -> tuple[Way, int]:
    if isinstance(reference, list):
        return (*way, None), reference[0]
    if isinstance(reference, dict):
        return (*way, _KEY), reference[""]
    return way, reference


def object_with(table: FieldTable, kind: str, place: FieldPlace) -> dict[str, object]:
    """Make an object that has a field, and nothing else but its name."""
    api_version, _, name = kind.rpartition(" ")
    tree = _value(table, table.fields_of(place.structure)[place.field])
    for step in reversed(place.way):
        tree = [tree] if step is None else {step: tree}
    assert isinstance(tree, dict)
    metadata = {"name": "a", **tree.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": name, "metadata": metadata, **tree}


def _value(table: FieldTable, reference: Reference) -> object:
    """A value that a field may hold, and which is not empty."""
    if isinstance(reference, list):
        return [_value(table, reference[0])]
    if isinstance(reference, dict):
        return {_KEY: _value(table, reference[""])}
    if reference <= 0:
        return _VALUES[reference]
    fields = table.enabled_fields_of(reference)
    simple = (
        name
        for name, inner in fields.items()
        if isinstance(inner, int) and inner in _VALUES
    )
    field = next(simple, next(iter(fields), ""))
    return {field: _value(table, fields[field])} if field else {}
