"""A quick reader of plain block YAML, as Kubernetes' tools write it.

It reads a small part of the language (one key or one item in a line, its value plain,
quoted or nested below), in a tenth of the time that libyaml's events take. It leaves
everything else to the full reader.
"""

import json
import math
import re
from typing import Final, TypeAlias

from quaymaster._base.input.yaml.scalars import WORDS, plain

__all__ = ["KEY", "VALUE", "NotPlainError", "read_block", "read_scalar"]

KEY: Final = r"[A-Za-z_][A-Za-z0-9_./-]{0,200}+"
VALUE: Final = (
    r"'(?:[ -&(-~]++|'')*+'"
    r'|"(?:[ !#-\[\]-~]++|\\["\\/bfnrt])*+"'
    r"|\{\}|\[\]"
    # Not a key, not a comment, and not the beginning of anything else.
    r"|(?![^\n]*(?:: | #|:\n))(?:[A-Za-z0-9_./+~;^$()\\<]|-(?=[!-~]))[ -~]*+(?<! )"
)
_LINE: Final = re.compile(
    rf"^( *+)(- )?(?:({KEY}):(?: ({VALUE}))?|({VALUE}))\n",
    re.MULTILINE | re.ASCII,
)


# Real objects have some 20 levels; the full reader judges deeper ones.
_DEEPEST: Final = 100

_Mapping: TypeAlias = dict[str, object]


class NotPlainError(Exception):
    """Only the full reader can read the text, if at all."""


def read_block(text: str) -> object:
    """Read a text of whole lines: a mapping or a sequence.

    Raises:
        NotPlainError: The text has more than plain mappings, sequences and scalars.
    """
    rows = _LINE.findall(text)
    if not rows or len(rows) != text.count("\n"):
        raise NotPlainError
    block = _Block()
    for spaces, dash, key, value, item in rows:
        column = len(spaces)
        if dash:
            items = block.sequence(column)
            if item:
                items.append(read_scalar(item))
                continue
            column += 2
            mapping = block.item(column, items)
        else:
            mapping = block.mapping(column)
        if key in mapping or key in WORDS or not key:
            raise NotPlainError
        if value:
            mapping[key] = read_scalar(value)
        else:
            mapping[key] = None
            block.awaited = (mapping, key)
    return block.root


class _Block:
    """Combines lines: each belongs to the innermost container at its column.

    Attributes:
        awaited: The mapping and the key whose value may come in the next line.
    """

    __slots__ = ("_columns", "_open", "_root", "awaited")

    def __init__(self) -> None:
        self._root: _Mapping = {}
        self._columns = [-1]
        self._open: list[_Mapping | list[object]] = [self._root]
        self.awaited: tuple[_Mapping, str] | None = (self._root, "")

    @property
    def root(self) -> object:
        """Return the value of all lines."""
        return self._root[""]

    def mapping(self, column: int) -> _Mapping:
        """Return the mapping that has a key at a column."""
        columns, opened = self._columns, self._open
        while columns[-1] > column:
            columns.pop()
            opened.pop()
        top = opened[-1]
        if columns[-1] == column and type(top) is list:
            # Items may be in the column of the key that they belong to.
            columns.pop()
            opened.pop()
            top = opened[-1]
        if columns[-1] != column:
            top = self._begin(column, top, {})
        self.awaited = None
        assert isinstance(top, dict)
        return top

    def sequence(self, column: int) -> list[object]:
        """Return the sequence that has an item at a column."""
        columns, opened = self._columns, self._open
        while columns[-1] > column:
            columns.pop()
            opened.pop()
        top = opened[-1]
        if columns[-1] != column or type(top) is not list:
            top = self._begin(column, top, [])
        self.awaited = None
        assert isinstance(top, list)
        return top

    def item(self, column: int, items: list[object]) -> _Mapping:
        """Return a new mapping, which begins as an item."""
        mapping: _Mapping = {}
        items.append(mapping)
        self._columns.append(column)
        self._open.append(mapping)
        return mapping

    def _begin(
        self, column: int, top: object, collection: _Mapping | list[object]
    ) -> _Mapping | list[object]:
        """Begin a container as the value of the key in the line before."""
        # Identity: the key must be of the innermost mapping, not of an equal one.
        if self.awaited is None or self.awaited[0] is not top:
            raise NotPlainError
        if len(self._columns) > _DEEPEST:
            raise NotPlainError
        mapping, key = self.awaited
        mapping[key] = collection
        self._columns.append(column)
        self._open.append(collection)
        return collection


def read_scalar(text: str) -> object:
    first = text[0]
    if first.isalpha():
        return WORDS.get(text, text)
    if first == '"':
        # This reader accepts only the escapes of JSON.
        return json.loads(text) if "\\" in text else text[1:-1]
    if first == "'":
        return text[1:-1].replace("''", "'")
    if text == "{}":
        return {}
    if text == "[]":
        return []
    value = plain(text)
    if isinstance(value, float) and not math.isfinite(value):
        raise NotPlainError
    return value
