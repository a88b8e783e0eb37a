"""Splits large streams of YAML: items of a long list, or many documents.

The pieces are found by their lines alone. A cut in the wrong place (in a text in quotes
that goes over lines, say) leaves a piece that is no YAML, and so do anchors that other
pieces refer to: then the caller reads the whole stream the slow way.
"""

import mmap
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from quaymaster._base.input.yaml.blocks import NotPlainError
from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.literals import unfolded
from quaymaster._base.input.yaml.reading import Document, read
from quaymaster._base.input.yaml.shapes import Shapes

__all__ = ["LongList", "Piece", "find_list", "split_documents"]

_ITEMS: Final = re.compile(rb"^items:(?=\n- )", re.MULTILINE)
_ITEM: Final = b"\n- "
_OUTSIDE: Final = re.compile(rb"\n(?=[^\s-])")
_SOMETHING: Final = re.compile(rb"^[^\S\n]*+[^\s#]", re.MULTILINE)
_ENDS: Final = (b"\n---", b"\n...", b"\n%")
_SEPARATOR: Final = re.compile(rb"^---\n", re.MULTILINE)
_SPECIAL: Final = re.compile(rb"^(?:%|\.\.\.|---[^\n])", re.MULTILINE)
_LONGEST_FRAME: Final = 1 << 16  # bytes around a list; chosen, not measured


class Piece(NamedTuple):
    """An item or a document.

    Attributes:
        json: Its JSON.
        document: What the full reader has made of it, if that was needed.
    """

    json: bytes
    document: Document | None = None


class LongList(NamedTuple):
    """A document that is a list.

    Attributes:
        frame: All but its items.
        items: What is to be read one by one; a YamlError means that the whole stream
            must be read otherwise.
    """

    frame: Mapping[str, object]
    items: Iterator[Piece]


def find_list(content: bytes | mmap.mmap) -> LongList | None:
    """The document of a stream that is one plainly written list; else None."""
    begin = _ITEMS.search(content[:_LONGEST_FRAME])
    if begin is None or any(content.find(end, begin.end()) >= 0 for end in _ENDS):
        return None
    outside = _OUTSIDE.search(content, content.rfind(_ITEM) + len(_ITEM))
    end = len(content) if outside is None else outside.end()
    if len(content) - end > _LONGEST_FRAME or content[end - 1 : end] != b"\n":
        return None
    try:
        documents = list(read(content[: begin.start()] + content[end:]))
    except YamlError:
        return None
    frame = documents[0].value if len(documents) == 1 else None
    if not isinstance(frame, Mapping) or "items" in frame or documents[0].duplicates:
        return None
    return LongList(frame, _items(content, begin.end(), end))


def split_documents(content: bytes | mmap.mmap) -> Iterator[Piece]:
    """The documents of a stream; nothing if more than plain separators are there.

    Raises:
        YamlError: The whole stream must be read otherwise.
    """
    if _SPECIAL.search(content) is not None or content[-1:] != b"\n":
        return
    shapes = Shapes()
    begin = 0
    for separator in _SEPARATOR.finditer(content):
        # Comments before the first separator are no document.
        if begin or _SOMETHING.search(content, 0, separator.start()):
            text = content[begin : separator.start()]
            yield _piece(text, shapes, content, begin)
        begin = separator.end()
    yield _piece(content[begin:], shapes, content, begin)


def _items(content: bytes | mmap.mmap, begin: int, end: int) -> Iterator[Piece]:
    """The items from the end of the line before the first one."""
    shapes = Shapes()
    while begin >= 0:
        following = content.find(_ITEM, begin + 1)
        start, stop = begin + 1, following + 1 if following >= 0 else end
        # Without its dash an item is a document.
        yield _piece(b"  " + content[start + 2 : stop], shapes, content, start)
        begin = following


def _piece(
    text: bytes, shapes: Shapes, content: bytes | mmap.mmap, start: int
) -> Piece:
    try:
        return Piece(shapes.json(unfolded(text.decode("ascii"))))
    except (NotPlainError, UnicodeDecodeError):
        documents = list(read(text))
    if len(documents) > 1:
        raise YamlError("more than one document where one was expected")
    if not documents:
        return Piece(b"", Document(None))
    value, duplicates = documents[0]
    if duplicates:
        above = content[:start].count(b"\n")
        duplicates = tuple(one._replace(line=one.line + above) for one in duplicates)
    return Piece(b"", Document(value, duplicates))
