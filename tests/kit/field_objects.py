"""Objects that have one field of the API, made from the table of fields."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from tests.kit.internals.openapi import FieldTable, Reference, Scalar

__all__ = ["FieldPlace", "field_places", "object_with"]

Steps: TypeAlias = tuple[str | None, ...]
"""Fields and keys of maps; None means the only item of a list."""

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
        structure: The structure that has the field.
        field: Its name.
        steps: The fields and keys that lead to it.
    """

    structure: int
    field: str
    steps: Steps

    @property
    def path(self) -> str:
        """Its path, as messages show it."""
        steps = ("[0]" if step is None else f".{step}" for step in self.steps)
        return "".join(steps).removeprefix(".")


def field_places(
    table: FieldTable, kind: str, through: FieldTable
) -> Iterator[FieldPlace]:
    """Yield all fields of a kind, each structure by its shortest path.

    Args:
        table: The table of fields.
        kind: A kind with its version, such as ``apps/v1 Deployment``.
        through: The table with all fields of the paths, with their gates enabled.
    """
    ways: dict[int, Steps] = {table.kinds[kind]: ()}
    todo = list(ways)
    for structure in todo:
        for field, reference in table.fields_of(structure).items():
            steps = (*ways[structure], field)
            yield FieldPlace(structure, field, steps)
            inner_steps, inner = _inside(steps, reference)
            is_open = field in through.enabled_fields_of(structure)
            if is_open and inner > 0 and inner not in ways:
                ways[inner] = inner_steps
                todo.append(inner)


def _inside(steps: Steps, reference: Reference) -> tuple[Steps, int]:
    if isinstance(reference, list):
        return (*steps, None), reference[0]
    if isinstance(reference, dict):
        return (*steps, _KEY), reference[""]
    return steps, reference


def object_with(table: FieldTable, kind: str, place: FieldPlace) -> dict[str, object]:
    """Make an object that has one field and its name, and nothing else."""
    api_version, _, name = kind.rpartition(" ")
    tree = _value(table, table.fields_of(place.structure)[place.field])
    for step in reversed(place.steps):
        tree = [tree] if step is None else {step: tree}
    assert isinstance(tree, dict)
    metadata = {"name": "a", **tree.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": name, "metadata": metadata, **tree}


def _value(table: FieldTable, reference: Reference) -> object:
    """Return a value that is valid for a field and not empty."""
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
