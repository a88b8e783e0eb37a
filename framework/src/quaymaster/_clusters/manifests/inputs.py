"""Distinguishes paths from texts and streams among the inputs of ``load``."""

import io
import os
from collections.abc import Iterable
from typing import IO, NamedTuple, TypeAlias, cast

from quaymaster._base.input.reading import UnreadableError, read_stream

__all__ = ["ManifestInput", "NamedText", "inputs_of", "named_text"]

ManifestInput: TypeAlias = str | bytes | os.PathLike[str] | IO[str] | IO[bytes]
"""A path, a text, or a stream."""

_TEXT = "input"
"""The name of a text in messages."""


class NamedText(NamedTuple):
    """A text to read.

    Attributes:
        name: Its name, for messages.
        content: The text in UTF-8.
    """

    name: str
    content: bytes


def inputs_of(
    inputs: ManifestInput | Iterable[ManifestInput],
) -> Iterable[ManifestInput]:
    """Return the inputs, of which a single one need not be in a list.

    Args:
        inputs: One input or several. A text is one input, although Python can iterate
            over its letters, and an open file is one, not its lines.
    """
    if isinstance(inputs, str | bytes | os.PathLike):
        return (inputs,)
    if hasattr(inputs, "read"):
        return (cast("IO[str]", inputs),)
    return inputs


def named_text(source: ManifestInput) -> NamedText | None:
    """Return the text of an input; None if it is a path.

    A ``str`` is a text if it has several lines or begins with a brace, as JSON does.

    Args:
        source: The input. A stream is read to its end and stays open.

    Raises:
        UnreadableError: The content is not text.
        OSError: The stream cannot be read.
    """
    if isinstance(source, os.PathLike):
        return None
    if isinstance(source, str):
        is_text = "\n" in source or source.lstrip().startswith("{")
        return NamedText(_TEXT, _encoded(source)) if is_text else None
    if isinstance(source, bytes):
        return NamedText(_TEXT, read_stream(io.BytesIO(source)))
    name = getattr(source, "name", None)
    content = source.read()
    if isinstance(content, str):
        content = _encoded(content)
    return NamedText(
        name if isinstance(name, str) and name else _TEXT,
        read_stream(io.BytesIO(content)),
    )


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableError(f"expected Unicode text: {error.reason}") from error
