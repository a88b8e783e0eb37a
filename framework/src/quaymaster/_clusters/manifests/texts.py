"""Splits a file into the JSON of its objects, from YAML or JSON.

YAML is converted to JSON, as in Kubernetes' tools, so all input is decoded alike.
"""

import mmap
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple, TypeVar

import msgspec

from quaymaster._base.input.json_values import (
    JsonError,
    JsonText,
    JsonValue,
    head,
    json_values,
)
from quaymaster._base.input.reading import UnreadableError
from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.reading import Document, read
from quaymaster._base.input.yaml.streams import Piece, find_list, split_documents
from quaymaster._base.input.yaml.values import Duplicate
from quaymaster._clusters.manifests.loaded import Source
from quaymaster._clusters.manifests.types import UNTYPED, ObjectType

__all__ = [
    "ObjectText",
    "begins_json",
    "list_texts",
    "object_texts",
]

_TOO_DEEP: Final = "nested too deeply"
_LARGE: Final = 1 << 16  # bytes: below, speed does not matter

T = TypeVar("T")


class ObjectText(NamedTuple):
    """One value of a file.

    Attributes:
        text: Its JSON.
        typed: Its type, as far as it or its list names one.
        source: Where it is.
        duplicates: The keys that its YAML has twice; None if it was JSON, which has not
            been searched for them yet.
    """

    text: JsonText
    typed: ObjectType
    source: Source
    duplicates: tuple[Duplicate, ...] | None = None


def begins_json(content: bytes | mmap.mmap) -> bool:
    """Return whether a file looks like JSON rather than YAML."""
    return content[:256].lstrip()[:1] in (b"{", b"[")


def object_texts(content: bytes | mmap.mmap, name: str) -> Iterator[ObjectText]:
    """Split a file into objects; lists are split, empty documents are skipped.

    Raises:
        UnreadableError: From some place on, the text is neither YAML nor JSON.
    """
    if begins_json(content):
        try:
            values = json_values(content)
        except JsonError as error:
            # JSON that only YAML can read (comments, --- in between) is YAML.
            if name.endswith(".json"):
                raise UnreadableError(str(error)) from error
        except RecursionError as error:
            raise UnreadableError(_TOO_DEEP) from error
        else:
            for number, value in enumerate(values, 1):
                yield from _of_json(value, Source(name, number if values[1:] else 0))
            return
    try:
        yield from _yaml_texts(content, name)
    except YamlError as error:
        raise UnreadableError(str(error)) from error


def _yaml_texts(content: bytes | mmap.mmap, name: str) -> Iterator[ObjectText]:
    """Read large files in pieces if that is possible, others as a whole."""
    read_so_far = 0
    if len(content) >= _LARGE:
        try:
            for text in _quick_texts(content, name):
                read_so_far += 1
                yield text
        except YamlError:
            pass  # The full reader reports whether it is wrong, and where.
        else:
            if read_so_far:
                return
    yield from islice(_all_texts(content, name), read_so_far, None)


def _all_texts(content: bytes | mmap.mmap, name: str) -> Iterator[ObjectText]:
    for number, document in _numbered(read(content)):
        if document.value is not None:
            yield from _of_yaml(document, Source(name, number))


def _quick_texts(content: bytes | mmap.mmap, name: str) -> Iterator[ObjectText]:
    """Yield the objects of a long list or of many documents; nothing for others."""
    found = find_list(content)
    if found is not None:
        item_type = _type_in(found.frame, UNTYPED).item_type
        if item_type is not None:
            for index, piece in enumerate(found.items):
                yield _of_piece(piece, item_type, Source(name, item=index))
        return
    for number, piece in _numbered(split_documents(content)):
        source = Source(name, number)
        if piece.document is not None:
            if piece.document.value is not None:
                yield from _of_yaml(piece.document, source)
            continue
        text = _of_piece(piece, UNTYPED, source)
        if text.typed.item_type is None:
            yield text
        else:
            yield from _of_yaml(Document(msgspec.json.decode(text.text)), source)


def _of_piece(piece: Piece, default: ObjectType, source: Source) -> ObjectText:
    if piece.document is None:
        text = piece.json
        api_version, kind = head(text)
        typed = ObjectType(api_version or default.api_version, kind or default.kind)
        return ObjectText(text, typed, source, ())
    value, duplicates = piece.document
    text = msgspec.json.encode(value)
    return ObjectText(text, _type_in(value, default), source, duplicates)


def _of_json(value: JsonValue, source: Source) -> Iterator[ObjectText]:
    typed = ObjectType(value.api_version, value.kind)
    item_type = typed.item_type
    if item_type is None or value.items is None:
        yield ObjectText(value.text, typed, source)
        return
    for index, text in enumerate(value.items):
        api_version, kind = head(text)
        own = ObjectType(api_version or item_type.api_version, kind or item_type.kind)
        yield ObjectText(text, own, source._replace(item=index))


def _of_yaml(document: Document, source: Source) -> Iterator[ObjectText]:
    tree, duplicates = document
    typed = _type_in(tree, UNTYPED)
    items = tree.get("items") if isinstance(tree, Mapping) else None
    if typed.item_type is None or not isinstance(items, list):
        text = msgspec.json.encode(tree)
        yield ObjectText(text, typed, source, duplicates)
        return
    yield from list_texts(items, typed.item_type, source, duplicates)


def list_texts(
    items: list[object],
    item_type: ObjectType,
    source: Source,
    duplicates: tuple[Duplicate, ...] | None = None,
) -> Iterator[ObjectText]:
    """Yield the items of a list.

    Args:
        items: The items.
        item_type: The type of items that name none.
        source: The place of the list.
        duplicates: The keys that the list has twice.
    """
    for index, item in enumerate(items):
        inside = duplicates and tuple(
            duplicate._replace(path=duplicate.path[2:])
            for duplicate in duplicates
            if duplicate.path[:2] == ("items", index)
        )
        text = msgspec.json.encode(item)
        own = _type_in(item, item_type)
        yield ObjectText(text, own, source._replace(item=index), inside)


def _type_in(tree: object, default: ObjectType) -> ObjectType:
    """Return the type that an object names, completed by a default."""
    if not isinstance(tree, Mapping):
        return default
    found = (tree.get("apiVersion"), tree.get("kind"))
    if any(value is not None and not isinstance(value, str) for value in found):
        return UNTYPED
    api_version, kind = (
        value or own for value, own in zip(found, default, strict=True)
    )
    return ObjectType(api_version, kind)


def _numbered(documents: Iterator[T]) -> Iterator[tuple[int, T]]:
    """Number documents from 1; the only one of its stream has 0."""
    waiting: T | None = next(documents, None)
    number = 0
    while waiting is not None:
        error: YamlError | None = None
        try:
            following = next(documents, None)
        except YamlError as found:
            following, error = None, found
        number += 1
        is_only = number == 1 and following is None and error is None
        yield (0 if is_only else number), waiting
        if error is not None:
            raise error
        waiting = following
