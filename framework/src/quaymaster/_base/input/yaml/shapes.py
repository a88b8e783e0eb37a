"""Converts plain block YAML to JSON, quickly: each shape of text is parsed once.

Clusters have thousands of objects with the same keys and different values. A text
without its values is its shape. The JSON of a shape is made once, and then filled with
the values.
"""

import re
from typing import Final

import msgspec

from quaymaster._base.input.yaml.blocks import (
    VALUE,
    NotPlainError,
    read_block,
    read_scalar,
)

__all__ = ["Shapes"]

_FILLED: Final = re.compile(r": ([^\n]++)\n")
_VALUE: Final = re.compile(rf"(?:{VALUE})\n", re.ASCII)
_MARK: Final = "qm0shape0mark"
_MARKED: Final = re.compile(rf'"{_MARK}"'.encode())

# Bounds on memory: the tables are cleared when they are full. Chosen, not measured.
_MOST_SHAPES: Final = 4096
_MOST_VALUES: Final = 1 << 16
_LONGEST_VALUE: Final = 256


class _Values(dict[str, bytes]):
    """The JSON of scalars."""

    def __missing__(self, text: str) -> bytes:
        if not _VALUE.fullmatch(text + "\n"):
            raise NotPlainError
        if len(self) >= _MOST_VALUES:
            self.clear()
        encoded = msgspec.json.encode(read_scalar(text))
        if len(text) <= _LONGEST_VALUE:
            self[text] = encoded
        return encoded


class Shapes:
    """Caches the shapes of the texts of one stream."""

    def __init__(self) -> None:
        self._shapes: dict[str, list[bytes]] = {}
        self._values = _Values()

    def json(self, text: str) -> bytes:
        """Return the JSON of a text of whole lines.

        Raises:
            NotPlainError: Only the full reader can read the text, if at all.
        """
        if "\0" in text:  # shapes have it in place of a value
            raise NotPlainError
        # Every other part is a value, to be inserted between a colon and a new line.
        parts = _FILLED.split(text)
        shape = "\0".join(parts[::2])
        pieces = self._shapes.get(shape)
        if pieces is None:
            pieces = self._learn(shape)
        values = self._values
        filled = [b""] * len(parts)
        filled[::2] = pieces
        filled[1::2] = [values[value] for value in parts[1::2]]
        return b"".join(filled)

    def _learn(self, shape: str) -> list[bytes]:
        if _MARK in shape:
            raise NotPlainError
        text = shape.replace("\0", f": {_MARK}\n")
        pieces = _MARKED.split(msgspec.json.encode(read_block(text)))
        if len(self._shapes) >= _MOST_SHAPES:
            self._shapes.clear()
        self._shapes[shape] = pieces
        return pieces
