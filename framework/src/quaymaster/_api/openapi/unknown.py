"""Finds unknown fields, and those whose feature gate is off.

Mirrors the strict decoding of the API server (sigs.k8s.io/json, ``UnmarshalStrict``):
names are case-sensitive, and values with their own decoding, such as a quantity or a
custom object, are not searched.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from quaymaster._api.openapi.scalars import is_scalar
from quaymaster._api.openapi.table import (
    DROPS_WHOLE_REFERENCE,
    FieldTable,
    Reference,
)
from quaymaster._base.suggestions import did_you_mean

__all__ = ["OddField", "find_odd_fields", "is_empty"]

_REMOVED: Final[Mapping[tuple[str, str], str]] = {
    ("source", "resourceClaimTemplateName"): "; Kubernetes 1.31 removed it: "
    "resourceClaimName and resourceClaimTemplateName now stand beside name"
}
"""Removed fields that many manifests still have -> what to write instead.

Each is named with another field of its structure.
"""

_EMPTY: Final[tuple[object, ...]] = (None, "", [], {})


class OddField(NamedTuple):
    """A field that is unknown, or that an API server drops.

    Attributes:
        path: Its path, such as ``spec.containers[0].imagee``.
        hint: The field that was probably meant, or the versions that have it, as the
            end of a sentence; may be empty.
        gate: The feature gate whose fields are dropped while it is off; empty for a
            field that is unknown.
    """

    path: str
    hint: str = ""
    gate: str = ""


def find_odd_fields(
    tree: object, reference: Reference, table: FieldTable, path: str = ""
) -> Iterator[OddField]:
    """Find the odd fields of a tree; values of wrong types are skipped.

    Args:
        tree: Dicts, lists, strings, numbers.
        reference: The expected type.
        table: The fields of Kubernetes' kinds.
        path: The place of the tree in its object.
    """
    if isinstance(reference, int):
        if reference > 0 and isinstance(tree, Mapping):
            yield from _in_structure(tree, reference, table, path)
    elif isinstance(reference, list):
        for index, item in enumerate(tree if isinstance(tree, list) else ()):
            yield from find_odd_fields(item, reference[0], table, f"{path}[{index}]")
    else:
        for key, value in tree.items() if isinstance(tree, Mapping) else ():
            yield from find_odd_fields(value, reference[""], table, f"{path}.{key}")


def is_empty(value: object) -> bool:
    """Return whether dropping a value loses nothing."""
    return value in _EMPTY


def _in_structure(
    tree: Mapping[str, object], structure: int, table: FieldTable, path: str
) -> Iterator[OddField]:
    fields = table.enabled_fields_of(structure)
    for name, value in tree.items():
        where = f"{path}.{name}" if path else name
        reference = fields.get(name)
        if reference is None:
            gate = table.gate_of(structure, name)
            if not gate:
                yield OddField(where, _hint(name, structure, table))
                continue
            if not is_empty(value):
                is_whole = gate == DROPS_WHOLE_REFERENCE
                yield OddField(path if is_whole else where, gate=gate)
            reference = table.fields_of(structure)[name]
        if not is_scalar(reference):
            yield from find_odd_fields(value, reference, table, where)


@functools.lru_cache(maxsize=1024)
def _hint(name: str, structure: int, table: FieldTable) -> str:
    """Return the versions with a field of this name, and a suggested name."""
    for (removed, neighbour), hint in _REMOVED.items():
        if name == removed and neighbour in table.fields_of(structure):
            return hint
    versions = table.versions_of(structure, name)
    if versions and not table.kubernetes.since(versions[0]):
        return f"; known since {versions[0]}"
    until = f"; known until {versions[-1]}" if versions else ""
    return f"{until}{did_you_mean(name, table.fields_of(structure))}"
