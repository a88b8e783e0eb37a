"""Splits large streams of YAML: items of a long list, or many documents.

The pieces are found by their lines alone. A cut in the wrong place (in a quoted text of
several lines, for example) leaves a piece that is not YAML. So does an anchor that
other pieces refer to. The caller then reads the whole stream with the slow reader.
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
        document: The result of the full reader, if that was needed.
    """

    json: bytes
    document: Document | None = None


class LongList(NamedTuple):
    """A document that is a list.

    Attributes:
        frame: All but its items.
        items: The items, read one by one; a YamlError means that the caller must read
            the whole stream with the slow reader.
    """

    frame: Mapping[str, object]
    items: Iterator[Piece]


def find_list(content: bytes | mmap.mmap) -> LongList | None:
    """Return the only document of a stream if it is a plainly written list, or None."""
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
    """Split a stream into documents; yield nothing if it has unusual separators.

    Raises:
        YamlError: The caller must read the whole stream with the slow reader.
    """
    # A document's text may depend on what is before it, such as a directive.
    if _SPECIAL.search(content) is not None or content[-1:] != b"\n":
        return
    shapes = Shapes()
    begin = 0
    for separator in _SEPARATOR.finditer(content):
        # Comments before the first separator are not a document.
        if begin or _SOMETHING.search(content, 0, separator.start()):
            text = content[begin : separator.start()]
            yield _piece(text, shapes, content, begin)
        begin = separator.end()
    yield _piece(content[begin:], shapes, content, begin)


def _items(content: bytes | mmap.mmap, begin: int, end: int) -> Iterator[Piece]:
    """Yield the items from the end of the line before the first one."""
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
        duplicates = tuple(
            duplicate._replace(line=duplicate.line + above) for duplicate in duplicates
        )
    return Piece(b"", Document(value, duplicates))
