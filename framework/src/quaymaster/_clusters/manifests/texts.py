"""Splits a file into its objects, from YAML or JSON, and recognises their types.

YAML is converted to JSON, as in Kubernetes' tools, so all input is decoded alike.
"""

import mmap
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from quaymaster._base.input.json_values import (
    JsonError,
    JsonText,
    JsonValue,
    head,
    json_tree,
    json_values,
)
from quaymaster._base.input.reading import UnreadableError
from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.reading import Document, read
from quaymaster._base.input.yaml.values import Duplicate
from quaymaster._clusters.manifests.builtin_kinds import BUILTIN_KINDS
from quaymaster._clusters.manifests.loaded import Source
from quaymaster._clusters.manifests.types import UNTYPED, ObjectType
from quaymaster._core.config.naming import show

if TYPE_CHECKING:
    from quaymaster._base.input.yaml.streams import Piece

__all__ = ["ContentError", "ObjectText", "begins_json", "object_texts"]

_TOO_DEEP: Final = "nested too deeply"
_UNREAD: Final = object()
_LARGE: Final = 1 << 16  # bytes: below, speed does not matter

T = TypeVar("T")


class ContentError(ValueError):
    """The content of an object is not what its type requires.

    Attributes:
        path: The field.
        message: The problem.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


class ObjectText:
    """One value of a file: its type, its JSON or its tree, and its place.

    Args:
        text: Its JSON.
        typed: Its type, as far as it or its list names one.
        source: Its place.
        duplicates: The keys that its YAML has twice; None if it was JSON, which has not
            been searched for them yet.

    Attributes:
        text: Its JSON.
        typed: Its type, as far as it or its list names one.
        source: Its place.
        duplicates: See above.
    """

    __slots__ = ("_tree", "duplicates", "source", "text", "typed")

    def __init__(
        self,
        text: JsonText,
        typed: ObjectType,
        source: Source,
        duplicates: tuple[Duplicate, ...] | None = None,
    ) -> None:
        self.text = text
        self.typed = typed
        self.source = source
        self.duplicates = duplicates
        self._tree: object = _UNREAD

    @classmethod
    def of_json(
        cls,
        text: JsonText,
        default: ObjectType,
        source: Source,
        duplicates: tuple[Duplicate, ...] | None = None,
    ) -> "ObjectText":
        """Recognise a JSON text; its list may name a default for its type."""
        api_version, kind = head(text)
        typed = ObjectType(api_version or default.api_version, kind or default.kind)
        return cls(text, typed, source, duplicates)

    @classmethod
    def of_tree(
        cls,
        tree: object,
        default: ObjectType,
        source: Source,
        duplicates: tuple[Duplicate, ...] | None = None,
    ) -> "ObjectText":
        """Recognise a value that was read from YAML, and write it as JSON."""
        text = msgspec.json.encode(tree)
        return cls(text, _type_in(tree, default), source, duplicates)

    @property
    def tree(self) -> object:
        """The value as a tree, which is read once; do not change it.

        Raises:
            ValueError: The text is not JSON.
            RecursionError: The text is nested too deeply.
        """
        if self._tree is _UNREAD:
            self._tree = json_tree(self.text)
        return self._tree

    def fields(self) -> Mapping[str, object]:
        """Return the tree of an object.

        Raises:
            ContentError: It is not an object.
        """
        if not isinstance(self.tree, Mapping):
            message = "expected an object with apiVersion and kind, got"
            raise ContentError("", f"{message} {show(self.tree)}")
        return self.tree

    def full_type(self) -> ObjectType:
        """Return the type of an object.

        Raises:
            ContentError: Neither it nor its list names an apiVersion and a kind.
        """
        values = []
        tree = self.fields()
        for field, default in zip(("apiVersion", "kind"), self.typed, strict=True):
            value = tree.get(field) or default
            if not isinstance(value, str) or not value:
                message = f"expected the {field} of a Kubernetes object, got"
                raise ContentError(field, f"{message} {show(value or None)}")
            values.append(value)
        return ObjectType(*values)

    def inner_texts(self) -> Iterator["ObjectText"] | None:
        """Return the items of a list; None for other objects.

        Raises:
            ContentError: The items of a list are not a list.
        """
        item_type, items = self.full_type().item_type, self.fields().get("items")
        if item_type is None or not _is_list(items, item_type):
            return None
        if items is not None and not isinstance(items, list):
            raise ContentError("items", f"expected a list, got {show(items)}")
        return _items_of(items or [], item_type, self.source)


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
    # Behind those that the quick way has returned before it failed.
    yield from islice(_all_texts(content, name), read_so_far, None)


def _all_texts(content: bytes | mmap.mmap, name: str) -> Iterator[ObjectText]:
    for number, document in _numbered(read(content)):
        if document.value is not None:
            yield from _of_yaml(document, Source(name, number))


def _quick_texts(content: bytes | mmap.mmap, name: str) -> Iterator[ObjectText]:
    """Yield the objects of a long list or of many documents; nothing for others."""
    # Only large files need these, and they do not notice the time of the import.
    from quaymaster._base.input.yaml.streams import (  # noqa: PLC0415 - above
        find_list,
        split_documents,
    )

    listed = find_list(content)
    if listed is not None:
        item_type = _type_in(listed.frame, UNTYPED).item_type
        if item_type is not None:
            for index, piece in enumerate(listed.items):
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


def _of_piece(piece: "Piece", default: ObjectType, source: Source) -> ObjectText:
    if piece.document is None:
        return ObjectText.of_json(piece.json, default, source, ())
    value, duplicates = piece.document
    return ObjectText.of_tree(value, default, source, duplicates)


def _of_json(value: JsonValue, source: Source) -> Iterator[ObjectText]:
    typed = ObjectType(value.api_version, value.kind)
    if typed.item_type is None or value.items is None:
        yield ObjectText(value.text, typed, source)
        return
    for index, text in enumerate(value.items):
        yield ObjectText.of_json(text, typed.item_type, source._replace(item=index))


def _of_yaml(document: Document, source: Source) -> Iterator[ObjectText]:
    tree, duplicates = document
    item_type = _type_in(tree, UNTYPED).item_type
    items = tree.get("items") if isinstance(tree, Mapping) else None
    if item_type is None or not isinstance(items, list):
        yield ObjectText.of_tree(tree, UNTYPED, source, duplicates)
        return
    yield from _items_of(items, item_type, source, duplicates)


def _items_of(
    items: list[object],
    item_type: ObjectType,
    source: Source,
    duplicates: tuple[Duplicate, ...] | None = None,
) -> Iterator[ObjectText]:
    """Yield the items of a list; each has the duplicate keys within it."""
    for index, item in enumerate(items):
        inside = duplicates and tuple(
            duplicate._replace(path=duplicate.path[2:])
            for duplicate in duplicates
            if duplicate.path[:2] == ("items", index)
        )
        place = source._replace(item=index)
        yield ObjectText.of_tree(item, item_type, place, inside)


def _is_list(items: object, item_type: ObjectType) -> bool:
    """Return whether an object whose kind ends in "List" is a list.

    Args:
        items: The object's items; may be None.
        item_type: The type of the items.
    """
    is_builtin = not item_type.kind or item_type.kind in BUILTIN_KINDS
    return is_builtin or isinstance(items, list)


def _type_in(tree: object, default: ObjectType) -> ObjectType:
    """Return the type that an object names, completed by a default."""
    if not isinstance(tree, Mapping):
        return default
    object_type = (tree.get("apiVersion"), tree.get("kind"))
    if any(value is not None and not isinstance(value, str) for value in object_type):
        return UNTYPED
    api_version, kind = (
        value or own for value, own in zip(object_type, default, strict=True)
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
        # What comes before the mistake is returned first.
        except YamlError as cause:
            following, error = None, cause
        number += 1
        is_only = number == 1 and following is None and error is None
        yield (0 if is_only else number), waiting
        if error is not None:
            raise error
        waiting = following
