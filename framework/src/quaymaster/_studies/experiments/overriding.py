"""Sets fields of documents by their paths, such as ``profiles[0].schedulerName``."""

import re
from collections.abc import Sequence
from typing import Final, cast

import attrs

__all__ = ["FieldPathError", "parse_field_path", "set_field"]

_PART: Final = re.compile(r"(?:^|\.)([A-Za-z_][\w-]*)|\[([^\[\]]+)\]")
_NAME: Final = "name"


class FieldPathError(ValueError):
    """An invalid path; caught inside this package."""


@attrs.frozen
class _Key:
    """A field of a mapping."""

    key: str


@attrs.frozen
class _Place:
    """An element of a list, by its number."""

    number: int


@attrs.frozen
class _Named:
    """The element of a list with a name; created if it is missing."""

    name: str


_Part = _Key | _Place | _Named


def parse_field_path(text: str) -> Sequence[_Part]:
    """Read a path.

    Raises:
        FieldPathError: The text is not a path.
    """
    parts: list[_Part] = []
    end = 0
    while end < len(text):
        match = _PART.match(text, end)
        if match is None or (not parts and match[1] is None):
            raise FieldPathError(
                "expected a field such as profiles[0].pluginConfig[Name].args.field"
                f", got {text!r}"
            )
        key, element = match[1], match[2]
        if key is not None:
            parts.append(_Key(key))
        elif element.isdecimal():
            parts.append(_Place(int(element)))
        else:
            parts.append(_Named(element))
        end = match.end()
    if not parts or not isinstance(parts[-1], _Key):
        raise FieldPathError(f"expected a field at the end, got {text!r}")
    return parts


def set_field(document: object, path: Sequence[_Part], value: object) -> object:
    """Return a copy of a document in which a field has another value.

    Args:
        document: Mappings, lists and scalars.
        path: The field. Missing mappings on the path, missing elements of lists by
            name, and the first element of a missing list are created.
        value: The value.

    Raises:
        FieldPathError: The path leads through another type of value.
    """
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(part, _Key):
        tree = {} if document is None else document
        if not isinstance(tree, dict):
            raise FieldPathError(f"expected a mapping that has {part.key!r}")
        fields = cast("dict[str, object]", tree)
        return {**fields, part.key: set_field(fields.get(part.key), rest, value)}
    items = [] if document is None else document
    if not isinstance(items, list):
        raise FieldPathError("expected a list")
    elements = list(cast("list[object]", items))
    place = _place_in(elements, part)
    if place == len(elements):
        elements.append({_NAME: part.name} if isinstance(part, _Named) else None)
    elements[place] = set_field(elements[place], rest, value)
    return elements


def _place_in(elements: Sequence[object], part: _Place | _Named) -> int:
    if isinstance(part, _Place):
        if part.number >= max(len(elements), 1):
            index = len(elements)
            raise FieldPathError(f"expected a list with [{part.number}], got {index}")
        return part.number
    for place, element in enumerate(elements):
        if isinstance(element, dict) and element.get(_NAME) == part.name:
            return place
    return len(elements)
