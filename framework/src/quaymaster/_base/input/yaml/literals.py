"""Converts literal blocks of several lines into quoted texts of one line each.

``kubectl get -o yaml`` writes annotations and scripts as literals (``key: |``). With
these in quotes, the rest of a text is plain and is read twenty times as fast.
"""

import functools
import re
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii
from typing import Final

from quaymaster._base.input.yaml.blocks import KEY, NotPlainError

__all__ = ["unfolded"]

# Searched first: trying each line as a header takes eight times as long.
_BAR: Final = re.compile(r" \|[-+]?\n")
_HEADER: Final = re.compile(rf"( *+)(- )?(?:({KEY}):|(?<=- )) ?\|([-+]?)\n", re.ASCII)


def unfolded(text: str) -> str:
    """Return a text of whole lines with its literals in quotes.

    Args:
        text: ASCII.

    Raises:
        NotPlainError: Only the full reader can read some literal.
    """
    parts: list[str] = []
    done, bar = 0, _BAR.search(text)
    while bar is not None:
        begin = text.rfind("\n", 0, bar.start()) + 1
        header = _HEADER.fullmatch(text, begin, bar.end())
        end = bar.end()
        if header is not None and begin >= done:
            spaces, dash, key, chomping = header.groups()
            column = len(spaces) + (2 if dash and key else 0)
            body = _lines_below(column).match(text, end)
            assert body is not None, "it may be empty"
            value = encode_basestring_ascii(_value(body[0], chomping))
            parts += [text[done : end - len(chomping) - 2], value, "\n"]
            done = end = body.end()
        bar = _BAR.search(text, end)
    return "".join([*parts, text[done:]]) if parts else text


@functools.cache
def _lines_below(column: int) -> re.Pattern[str]:
    """Match the lines that are indented further than a column, and empty ones."""
    return re.compile(rf"(?: {{{column + 1}}}[^\n]*+\n| *+\n)*+")


def _value(body: str, chomping: str) -> str:
    """Return the text of a literal.

    Args:
        body: Its lines.
        chomping: ``-``, ``+`` or empty.
    """
    indent = len(body) - len(body.lstrip(" "))
    lines = body.count("\n")
    if body.count(f"\n{' ' * indent}") == lines - 1 and body[indent] != "\n":
        made = body[indent:-1].replace(f"\n{' ' * indent}", "\n")
    else:
        made = _dedented(body.split("\n")[:-1])
    text = made.rstrip("\n")
    if not made.replace("\n", "").isprintable():
        raise NotPlainError
    if chomping == "-":
        return text
    return f"{made}\n" if chomping else f"{text}\n"


def _dedented(lines: Sequence[str]) -> str:
    """Return the text of lines of which some are empty, or are indented further."""
    begin = next((place for place, line in enumerate(lines) if line.strip(" ")), None)
    if begin is None:
        raise NotPlainError
    # The first line with text sets the indentation of all.
    indent = len(lines[begin]) - len(lines[begin].lstrip(" "))
    too_little = any(line[:indent].strip(" ") for line in lines)
    if too_little or any(len(line) > indent for line in lines[:begin]):
        raise NotPlainError
    return "\n".join(line[indent:] for line in lines)
