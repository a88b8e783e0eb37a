"""Finds the fields that the class of a declared kind does not have.

Parts that Kubernetes has, too, such as metadata or a label selector, may have all of
Kubernetes' fields: our classes leave out the fields that scheduling never reads.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import inspect

from quaymaster._api.objects import KINDS, ApiObject
from quaymaster._api.openapi.table import FieldTable, Reference
from quaymaster._api.openapi.unknown import (
    OddField,
    find_odd_fields,
)
from quaymaster._base.suggestions import did_you_mean

__all__ = ["find_unknown_in_class"]

_TYPE_FIELDS: Final = ("apiVersion", "kind")


def find_unknown_in_class(
    tree: object, kind: type[ApiObject], table: FieldTable, part: str = ""
) -> Iterator[OddField]:
    """Yield the unknown fields of an object; other checks report values of wrong types.

    Args:
        tree: The object, or a part of it.
        kind: Its class.
        table: The fields of the parts that Kubernetes has, too.
        part: The field of the object that the tree is; empty for the whole object.
    """
    info = _type_info(kind)
    if part:
        for field in info.fields:
            if field.encode_name == part:
                yield from _in(tree, field.type, table, part)
    elif isinstance(tree, Mapping):
        own = {key: tree[key] for key in tree if key not in _TYPE_FIELDS}
        yield from _in_class(own, info, table, "")


def _in(
    value: object, info: inspect.Type, table: FieldTable, path: str
) -> Iterator[OddField]:
    if isinstance(info, inspect.UnionType):
        for member in info.types:
            yield from _in(value, member, table, path)
    elif isinstance(info, inspect.StructType) and isinstance(value, Mapping):
        reference = _shared_structures(table).get(info.cls)
        if reference is None:
            yield from _in_class(value, info, table, path)
        else:
            yield from find_odd_fields(value, reference, table, path)
    elif isinstance(info, inspect.VarTupleType) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in(item, info.item_type, table, f"{path}[{index}]")
    elif isinstance(info, inspect.DictType) and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _in(item, info.value_type, table, f"{path}.{key}")


def _in_class(
    tree: Mapping[str, object],
    info: inspect.StructType,
    table: FieldTable,
    path: str,
) -> Iterator[OddField]:
    fields = {field.encode_name: field.type for field in info.fields}
    for name, value in tree.items():
        where = f"{path}.{name}" if path else name
        if name in fields:
            yield from _in(value, fields[name], table, where)
        else:
            yield OddField(where, did_you_mean(name, fields))


def _type_info(kind: type[ApiObject]) -> inspect.StructType:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType), "objects are structs"
    return info


@functools.lru_cache(maxsize=8)
def _shared_structures(table: FieldTable) -> Mapping[type, Reference]:
    """Return the classes that represent structures of Kubernetes."""
    references: dict[type, Reference] = {}
    for kind in KINDS.values():
        structure = table.structure_of(kind.api_version, kind.kind)
        _pair(_type_info(kind), structure, table, references)
    return references


def _pair(
    info: inspect.Type,
    reference: Reference,
    table: FieldTable,
    references: dict[type, Reference],
) -> None:
    if isinstance(info, inspect.UnionType):
        for member in info.types:
            _pair(member, reference, table, references)
    elif isinstance(info, inspect.VarTupleType) and isinstance(reference, list):
        _pair(info.item_type, reference[0], table, references)
    elif isinstance(info, inspect.DictType) and isinstance(reference, dict):
        _pair(info.value_type, reference[""], table, references)
    elif isinstance(info, inspect.StructType) and isinstance(reference, int):
        if not reference or info.cls in references:
            return
        references[info.cls] = reference
        fields = table.fields_of(reference) if reference > 0 else {}
        for field in info.fields:
            _pair(field.type, fields.get(field.encode_name, 0), table, references)
