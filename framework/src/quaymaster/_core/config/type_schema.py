"""JSON Schemas of the types in configurations."""

import enum
import inspect
import re
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._core.config.dump import plain
from quaymaster._core.config.records import RecordField, is_record, record_fields
from quaymaster._core.config.scalars import SCALARS

__all__ = ["DIALECT", "Definitions", "Schema"]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of the schemas."""

Schema: TypeAlias = dict[str, object]

_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {6,}.*)*)", re.MULTILINE)


class Definitions:
    """Collects the schemas of record classes under names for references.

    Attributes:
        named: Name -> schema, for ``$defs``.
    """

    def __init__(self) -> None:
        self.named: dict[str, Schema] = {}
        self._names: dict[type, str] = {}

    def of(self, kind: object) -> Schema:
        """Return the schema of a type; for a record class, a reference to it."""
        if is_record(kind):
            return self._reference(typing.cast(type, kind))
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return {"enum": [member.value for member in kind]}
        if isinstance(kind, type) and kind in SCALARS:
            return dict(SCALARS[kind].schema)
        return self._composed(kind)

    def amend(self, record: type, key: str, schema: Mapping[str, object]) -> None:
        """Extend the schema of a field of a record class that was added before."""
        properties = typing.cast(
            "dict[str, Schema]", self.named[self._names[record]]["properties"]
        )
        properties[key] |= schema

    def extend(self, record: type, schema: Mapping[str, object]) -> None:
        """Extend the schema of a record class that was added before."""
        self.named[self._names[record]] |= schema

    def record(self, record: type) -> Schema:
        """Return the schema of a record class itself."""
        descriptions = _attribute_descriptions(record)
        fields = record_fields(record)
        schema: Schema = {
            "type": "object",
            "description": _summary(record),
            "properties": {
                field.key: self._field(field, descriptions.get(field.name, ""))
                for field in fields
            },
            "required": [field.key for field in fields if field.required],
            "additionalProperties": False,
        }
        return {key: part for key, part in schema.items() if part not in ("", [])}

    def _reference(self, record: type) -> Schema:
        name = self._names.get(record)
        if name is None:
            name = record.__name__
            if name in self.named:
                name = f"{record.__module__}.{name}"
            self._names[record] = name
            self.named[name] = {}  # its fields may refer to it
            self.named[name] |= self.record(record)
        return {"$ref": f"#/$defs/{name}"}

    def _field(self, field: RecordField, description: str) -> Schema:
        schema = self.of(field.type)
        for rule in field.rules:
            schema = _merged(schema, rule.schema)
        if field.zero_means_default and schema.get("minimum") == 1:
            schema["minimum"] = 0
        if description:
            schema["description"] = description
        default = field.default()
        if default is not attrs.NOTHING and default is not None:
            schema["default"] = plain(default)
        return schema

    def _composed(self, kind: object) -> Schema:
        origin = typing.get_origin(kind) or kind
        arguments = typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self._member(member) for member in arguments]}
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin in (tuple, list, Sequence, frozenset, set):
            items = self.of(arguments[0] if arguments else object)
            unique = {"uniqueItems": True} if origin in (frozenset, set) else {}
            return {"type": "array", "items": items, **unique}
        if origin in (dict, Mapping):
            values = self.of(arguments[1] if arguments else object)
            return {"type": "object", "additionalProperties": values}
        return {}

    def _member(self, kind: object) -> Schema:
        return {"type": "null"} if kind is type(None) else self.of(kind)


def _merged(schema: Schema, rule: Mapping[str, object]) -> Schema:
    """Add the schema of a rule; schemas of items are merged."""
    merged = schema | dict(rule)
    items, more = schema.get("items"), rule.get("items")
    if isinstance(items, dict) and isinstance(more, Mapping):
        merged["items"] = _merged(items, more)
    return merged


def _summary(record: type) -> str:
    return (inspect.getdoc(record) or "").partition("\n\n")[0].replace("\n", " ")


def _attribute_descriptions(record: type) -> Mapping[str, str]:
    """Return the field descriptions of a Google-style class docstring.

    Fields without a description have that of a base class.
    """
    descriptions: dict[str, str] = {}
    for base in reversed(record.__mro__):
        section = inspect.cleandoc(base.__doc__ or "").partition("Attributes:\n")[2]
        descriptions |= {
            name: " ".join(text.replace("``", "").split())
            for name, text in _ATTRIBUTE.findall(section.partition("\n\n")[0])
        }
    return descriptions
