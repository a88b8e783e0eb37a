"""Reads objects with the slow reader: finds every problem, reads nulls as Go does.

Decoding stops at the first problem and reports only its JSON path. When decoding fails,
this module compares the parsed tree with the types and collects every problem with its
path. A null field is ignored. A null in a map or a list is the empty value of its type:
``disk:`` in a node selector is ``""``, ``cpu:`` in requests is 0.
"""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import inspect

from quaymaster._api.objects.codec import dec_hook
from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.errors import Problem

__all__ = ["clean", "complaint", "show"]


_NAMES: Final[Mapping[type[inspect.Type], str]] = {
    inspect.BoolType: "true or false",
    inspect.DictType: "an object",
    inspect.FloatType: "a number",
    inspect.IntType: "an integer",
    inspect.StrType: "a string",
    inspect.StructType: "an object",
    inspect.VarTupleType: "a list",
}


def clean(tree: object, cls: type, problems: list[Problem]) -> object:
    """Return a tree without null and unknown fields, and collect its problems."""
    return _clean(tree, _type_info(cls), "", problems)


def show(value: object) -> str:
    """Describe a wrong value, for an error."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def complaint(value: object, expected: str) -> str:
    """Return the message about a value where another was expected."""
    hint = ""
    if "string" in expected and isinstance(value, bool | int | float):
        hint = ": put it in quotes"
    return f"expected {expected}, got {show(value)}{hint}"


@functools.lru_cache(maxsize=256)
def _type_info(cls: type) -> inspect.Type:
    return inspect.type_info(cls)


def _clean(
    value: object, info: inspect.Type, path: str, problems: list[Problem]
) -> object:
    cleaner = _CLEANERS.get(type(info))
    if cleaner is None:
        raise TypeError(f"no objects have fields of type {info}")
    return cleaner(value, info, path, problems)


def _clean_struct(
    value: object, info: inspect.StructType, path: str, problems: list[Problem]
) -> object:
    if not isinstance(value, Mapping):
        return _complain(value, "an object", path, problems)
    cleaned = {}
    for field in info.fields:
        name = field.encode_name
        item = value.get(name)
        if item is not None:
            where = f"{path}.{name}" if path else name
            cleaned[name] = _clean(item, field.type, where, problems)
    return cleaned


def _clean_list(
    value: object, info: inspect.VarTupleType, path: str, problems: list[Problem]
) -> object:
    if not isinstance(value, list | tuple):
        return _complain(value, "a list", path, problems)
    item_type = info.item_type
    return [
        _empty(item_type)
        if item is None
        else _clean(item, item_type, f"{path}[{index}]", problems)
        for index, item in enumerate(value)
    ]


def _clean_dict(
    value: object, info: inspect.DictType, path: str, problems: list[Problem]
) -> object:
    if not isinstance(value, Mapping):
        return _complain(value, "an object", path, problems)
    cleaned = {}
    for key, item in value.items():
        if not isinstance(key, str):
            _complain(key, "a string as key", path, problems)
            continue
        given = _empty(info.value_type) if item is None else item
        if given is not None:
            cleaned[key] = _clean(given, info.value_type, f"{path}.{key}", problems)
    return cleaned


def _empty(info: inspect.Type) -> object:
    """Return the value that Go reads for a null item; None if it has no wire form."""
    match info:
        case inspect.StructType() | inspect.DictType():
            return {}
        case inspect.VarTupleType():
            return []
        case inspect.StrType():
            return ""
        case inspect.CustomType() if info.cls is Quantity:
            return "0"
    return None


def _clean_union(
    value: object, info: inspect.UnionType, path: str, problems: list[Problem]
) -> object:
    members = [t for t in info.types if not isinstance(t, inspect.NoneType)]
    if len(members) == 1:
        return _clean(value, members[0], path, problems)
    for member in members:
        complaints: list[Problem] = []
        cleaned = _clean(value, member, path, complaints)
        if not complaints:
            return cleaned
    expected = " or ".join(
        _NAMES.get(type(member), "another value") for member in members
    )
    return _complain(value, expected, path, problems)


def _clean_scalar(
    value: object,
    info: inspect.BoolType | inspect.StrType,
    path: str,
    problems: list[Problem],
) -> object:
    if isinstance(info, inspect.BoolType):
        if not isinstance(value, bool):
            return _complain(value, "true or false", path, problems)
    elif not isinstance(value, str):
        return _complain(value, "a string", path, problems)
    return value


def _clean_integer(
    value: object, info: inspect.IntType, path: str, problems: list[Problem]
) -> object:
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return _complain(value, "an integer", path, problems)
    least, most = info.ge, info.le
    if least is not None and most is not None and not least <= value <= most:
        return _complain(value, f"an integer from {least} to {most}", path, problems)
    return value


def _clean_number(
    value: object, _: inspect.FloatType, path: str, problems: list[Problem]
) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return _complain(value, "a number", path, problems)
    return value


def _clean_choice(
    value: object, info: inspect.LiteralType, path: str, problems: list[Problem]
) -> object:
    if value not in info.values:
        allowed = ", ".join(map(repr, info.values))
        return _complain(value, f"one of {allowed}", path, problems)
    return value


def _clean_custom(
    value: object, info: inspect.CustomType, path: str, problems: list[Problem]
) -> object:
    try:
        dec_hook(info.cls, value)
    except ValueError as error:
        problems.append(Problem(path=path, message=str(error)))
    return value


def _complain(
    value: object, expected: str, path: str, problems: list[Problem]
) -> object:
    problems.append(Problem(path=path, message=complaint(value, expected)))
    return value


def _leave(
    value: object, _info: inspect.AnyType, _path: str, _problems: list[Problem]
) -> object:
    return value


# Any: each reader takes the type by which the table lists it.
_CLEANERS: Final[
    Mapping[type[inspect.Type], Callable[[object, Any, str, list[Problem]], object]]
] = {
    inspect.AnyType: _leave,
    inspect.BoolType: _clean_scalar,
    inspect.CustomType: _clean_custom,
    inspect.DictType: _clean_dict,
    inspect.FloatType: _clean_number,
    inspect.IntType: _clean_integer,
    inspect.LiteralType: _clean_choice,
    inspect.StrType: _clean_scalar,
    inspect.StructType: _clean_struct,
    inspect.UnionType: _clean_union,
    inspect.VarTupleType: _clean_list,
}
