"""A common view of the two kinds of classes in configurations.

Arguments and settings are attrs classes. Objects of the Kubernetes API in them (a node
affinity, a label selector) are the msgspec structs of `quaymaster.objects`.
"""

import functools
import typing
from collections.abc import Callable

import attrs
import msgspec

from quaymaster._core.config.fields import ZERO_MEANS_DEFAULT, Rule, rules_of
from quaymaster._core.config.naming import attribute_key

__all__ = ["RecordField", "is_record", "record_fields"]


class RecordField(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One field of a record class.

    Attributes:
        name: The attribute.
        parameter: The constructor's keyword.
        key: The key in a file.
        type: The resolved type.
        required: Whether it has no default.
        default: Returns the default, or `attrs.NOTHING` without a constant default.
        attribute: The attrs attribute; None for a struct's field.
    """

    name: str
    parameter: str
    key: str
    type: object
    required: bool
    default: Callable[[], object]
    attribute: "attrs.Attribute[object] | None" = None

    @property
    def zero_means_default(self) -> bool:
        """Whether an explicit zero means the default."""
        metadata = self.attribute.metadata if self.attribute else {}
        return ZERO_MEANS_DEFAULT.items() <= metadata.items()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules among its validators."""
        return rules_of(self.attribute) if self.attribute else ()


def is_record(candidate: object) -> bool:
    """Whether a type is a class of named fields."""
    return isinstance(candidate, type) and (
        attrs.has(candidate) or issubclass(candidate, msgspec.Struct)
    )


def record_fields(record: type) -> tuple[RecordField, ...]:
    """Return the fields of a record class that its constructor takes."""
    return _record_fields(record)


@functools.cache
def _record_fields(record: type) -> tuple[RecordField, ...]:
    if attrs.has(record):
        return tuple(_attrs_fields(record))
    return tuple(_struct_fields(record))


def _attrs_fields(record: type) -> typing.Iterator[RecordField]:
    # Resolved here, because under ``from __future__ import annotations`` the types of
    # attrs' fields are texts.
    types = typing.get_type_hints(record)
    attribute: attrs.Attribute[object]
    for attribute in attrs.fields(record):
        if not attribute.init:
            continue
        yield RecordField(
            name=attribute.name,
            parameter=attribute.alias or attribute.name,
            key=attribute_key(attribute),
            type=types.get(attribute.name, object),
            required=attribute.default is attrs.NOTHING,
            default=_attrs_default(attribute),
            attribute=attribute,
        )


def _attrs_default(attribute: "attrs.Attribute[object]") -> Callable[[], object]:
    default: object = attribute.default
    factory = getattr(default, "factory", None)
    if factory is None:
        return lambda: default
    # Such a default depends on other fields of the instance, so there is no value to
    # show in a schema.
    if getattr(default, "takes_self", False):
        return lambda: attrs.NOTHING
    return typing.cast("Callable[[], object]", factory)


def _struct_fields(record: type) -> typing.Iterator[RecordField]:
    for field in msgspec.structs.fields(record):
        yield RecordField(
            name=field.name,
            parameter=field.name,
            key=field.encode_name,
            type=field.type,
            required=field.required,
            default=_struct_default(field),
        )


def _struct_default(field: msgspec.structs.FieldInfo) -> Callable[[], object]:
    if field.default_factory is not msgspec.NODEFAULT:
        return typing.cast("Callable[[], object]", field.default_factory)
    if field.default is not msgspec.NODEFAULT:
        return lambda: field.default
    return lambda: attrs.NOTHING
