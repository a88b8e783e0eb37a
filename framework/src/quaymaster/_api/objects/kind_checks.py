"""Checks the classes of kinds that plugins and packages declare."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import inspect

from quaymaster._api.objects.codec import dec_hook
from quaymaster._api.objects.kinds import KINDS, group_of
from quaymaster._api.objects.meta import ApiObject, ObjectMeta
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.time import Time

__all__ = ["kind_problem"]

_LABEL: Final = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]*", re.ASCII)
_PLURAL: Final = re.compile(_LABEL, re.ASCII)
_VERSION: Final = re.compile(rf"([a-z0-9][-.a-z0-9]*/)?{_LABEL}", re.ASCII)
_FORMS: Final = (
    ("kind", _KIND, "a name such as PodGroup"),
    ("api_version", _VERSION, "a group and a version such as example.com/v1"),
    ("plural", _PLURAL, "a name in lower case such as podgroups"),
)
_CUSTOM: Final = (Quantity, Time, object)
_PLAIN: Final = (
    inspect.AnyType,
    inspect.BoolType,
    inspect.FloatType,
    inspect.IntType,
    inspect.LiteralType,
    inspect.NoneType,
    inspect.StrType,
)


def kind_problem(kind: object) -> str:
    """Return what is wrong with the class of a declared kind, or an empty text.

    The classes of `quaymaster.objects` are always valid: to declare one of them only
    means that its objects are watched.

    Args:
        kind: The declared class.
    """
    if not (isinstance(kind, type) and issubclass(kind, ApiObject)):
        return f"expected a class derived from ApiObject, got {kind!r}"
    # Identity: this class, not another one of the same kind.
    if kind is KINDS.get(kind.kind):
        return ""
    problem = next(_problems(kind), "")
    return f"{kind.__name__}.{problem}" if problem else ""


def _problems(kind: type[ApiObject]) -> Iterator[str]:
    for name, form, expected in _FORMS:
        value: object = getattr(kind, name)
        if not isinstance(value, str) or not form.fullmatch(value):
            yield f"{name}: expected {expected}, got {value!r}"
    if not isinstance(kind.namespaced, bool):
        yield f"namespaced: expected True or False, got {kind.namespaced!r}"
    yield from _conversion_problems(kind)
    builtin = KINDS.get(kind.kind)
    if builtin is not None and group_of(builtin.api_version) == group_of(
        kind.api_version
    ):
        where = f"{builtin.kind} ({builtin.api_version})"
        yield f"kind: expected a kind of your own, but Kubernetes itself has {where}"
    try:
        info = inspect.type_info(kind)
    except Exception as error:  # annotations may have undefined names
        yield f"metadata: its fields cannot be read: {error}"
        return
    yield from _field_problems(info, "", set())
    try:
        msgspec.json.Decoder(kind, dec_hook=dec_hook)
    except TypeError as error:
        yield f"metadata: its fields cannot be read: {str(error).splitlines()[0]}"


def _conversion_problems(kind: type[ApiObject]) -> Iterator[str]:
    conversions: object = kind.conversions
    if not isinstance(conversions, Mapping):
        expected = "a mapping of versions to functions"
        yield f"conversions: expected {expected}, got {conversions!r}"
        return
    group = group_of(kind.api_version)
    for version, convert in conversions.items():
        is_other = isinstance(version, str) and version != kind.api_version
        if not is_other or group_of(version) != group:
            expected = f"another version of {group or 'the core group'}"
            yield f"conversions: expected {expected}, got {version!r}"
        elif not callable(convert):
            yield f"conversions[{version!r}]: expected a function, got {convert!r}"


def _field_problems(info: inspect.Type, path: str, seen: set[type]) -> Iterator[str]:
    """Yield the fields of a class that cannot be read, or would not be immutable."""
    problem = _type_problem(info)
    if problem:
        yield f"{path}: {problem}"
    elif isinstance(info, inspect.StructType):
        if info.cls not in seen:
            seen.add(info.cls)
            yield from _struct_problems(info, path, seen)
    else:
        for inner in _parts(info):
            yield from _field_problems(inner, path, seen)


def _type_problem(info: inspect.Type) -> str:
    if isinstance(info, inspect.ListType | inspect.SetType):
        return "expected tuple[..., ...], as objects never change"
    if isinstance(info, inspect.DictType):
        is_by_text = isinstance(info.key_type, inspect.StrType)
        return "" if is_by_text else "expected a map by strings, as JSON has it"
    if isinstance(info, inspect.CustomType):
        is_known = info.cls in _CUSTOM or issubclass(info.cls, Time)
        return "" if is_known else f"nothing in JSON is a {info.cls.__name__}"
    if isinstance(info, inspect.StructType):
        is_frozen = info.cls.__struct_config__.frozen
        return "" if is_frozen else "expected a frozen class, such as of ApiValue"
    if isinstance(info, (*_PLAIN, inspect.UnionType, inspect.VarTupleType)):
        return ""
    return f"nothing in an object is a {type(info).__name__.removesuffix('Type')}"


def _parts(info: inspect.Type) -> Sequence[inspect.Type]:
    if isinstance(info, inspect.UnionType):
        return info.types
    if isinstance(info, inspect.VarTupleType):
        return (info.item_type,)
    return (info.value_type,) if isinstance(info, inspect.DictType) else ()


def _struct_problems(
    info: inspect.StructType, path: str, seen: set[type]
) -> Iterator[str]:
    for field in info.fields:
        where = f"{path}.{field.name}" if path else field.name
        if field.required:
            yield f"{where}: expected a default, for objects that leave it out"
        if where == "metadata" and _class_of(field.type) is not ObjectMeta:
            yield f"{where}: expected ObjectMeta, as every object has it"
        yield from _field_problems(field.type, where, seen)


def _class_of(info: inspect.Type) -> type | None:
    return info.cls if isinstance(info, inspect.StructType) else None
