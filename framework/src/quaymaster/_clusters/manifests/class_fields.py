"""Finding the fields that the class of a declared kind does not have.

A part that Kubernetes has, too, such as metadata or a label selector, may have all of
the fields that it has there: our classes leave out what scheduling never reads.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import inspect

from quaymaster._api.objects import KINDS, ApiObject
from quaymaster._api.openapi.table import Reference, fields_of, structure_of
from quaymaster._api.openapi.unknown import UnknownField, find_unknown
from quaymaster._base.suggestions import did_you_mean

__all__ = ["find_unknown_in_class"]

_TYPE_FIELDS: Final = ("apiVersion", "kind")


def find_unknown_in_class(
    tree: object, kind: type[ApiObject], part: str = ""
) -> Iterator[UnknownField]:
    """The unknown fields of an object; values of wrong types are left to others.

    Args:
        tree: The object, or a part of it.
        kind: Its class.
        part: The field of the object that the tree is; empty for all of it.
    """
    info = _type_info(kind)
    if part:
        for field in info.fields:
            if field.encode_name == part:
                yield from _in(tree, field.type, part)
    elif isinstance(tree, Mapping):
        own = {key: tree[key] for key in tree if key not in _TYPE_FIELDS}
        yield from _in_class(own, info, "")


def _in(value: object, info: inspect.Type, path: str) -> Iterator[UnknownField]:
    if isinstance(info, inspect.UnionType):
        for member in info.types:
            yield from _in(value, member, path)
    elif isinstance(info, inspect.StructType) and isinstance(value, Mapping):
        known = _known_structures().get(info.cls)
        if known is None:
            yield from _in_class(value, info, path)
        else:
            yield from find_unknown(value, known, path)
    elif isinstance(info, inspect.VarTupleType) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in(item, info.item_type, f"{path}[{index}]")
    elif isinstance(info, inspect.DictType) and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _in(item, info.value_type, f"{path}.{key}")


def _in_class(
    tree: Mapping[str, object], info: inspect.StructType, path: str
) -> Iterator[UnknownField]:
    fields = {field.encode_name: field.type for field in info.fields}
    for name, value in tree.items():
        where = f"{path}.{name}" if path else name
        if name in fields:
            yield from _in(value, fields[name], where)
        else:
            yield UnknownField(where, did_you_mean(name, fields))


def _type_info(kind: type[ApiObject]) -> inspect.StructType:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType), "objects are structs"
    return info


@functools.cache
def _known_structures() -> Mapping[type, Reference]:
    """The structures of Kubernetes that our classes stand for."""
    found: dict[type, Reference] = {}
    for kind in KINDS.values():
        _pair(_type_info(kind), structure_of(kind.api_version, kind.kind), found)
    return found


def _pair(
    info: inspect.Type, reference: Reference, found: dict[type, Reference]
) -> None:
    if isinstance(info, inspect.UnionType):
        for member in info.types:
            _pair(member, reference, found)
    elif isinstance(info, inspect.VarTupleType) and isinstance(reference, list):
        _pair(info.item_type, reference[0], found)
    elif isinstance(info, inspect.DictType) and isinstance(reference, dict):
        _pair(info.value_type, reference[""], found)
    elif isinstance(info, inspect.StructType) and isinstance(reference, int):
        if not reference or info.cls in found:
            return
        found[info.cls] = reference
        fields = fields_of(reference) if reference > 0 else {}
        for field in info.fields:
            _pair(field.type, fields.get(field.encode_name, 0), found)
