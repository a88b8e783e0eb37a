"""Puts literal texts, which go over lines, into one line each, as quoted texts.

``kubectl get -o yaml`` writes annotations and scripts as literals (``key: |``). With
them in quotes, the rest of a text is plain, which is read twenty times as fast.
"""

import functools
import json
import re
from typing import Final

from quaymaster._input.yaml.blocks import KEY, NotPlainError

__all__ = ["unfolded"]

_HEADER: Final = re.compile(
    rf"^( *+)(- )?(?:({KEY}):|(?<=- )) ?\|([-+]?)\n", re.MULTILINE | re.ASCII
)
_BODY: Final = re.compile(r"[ -~\n]*+")


def unfolded(text: str) -> str:
    """Return a text of whole lines with its literals in quotes.

    Args:
        text: ASCII.

    Raises:
        NotPlainError: A literal is such that only the full reader can read it.
    """
    header = _HEADER.search(text)
    if header is None:
        return text
    parts: list[str] = []
    done = 0
    while header is not None:
        spaces, dash, key, chomping = header.groups()
        column = len(spaces) + (2 if dash and key else 0)
        body = _lines_below(column).match(text, header.end())
        assert body is not None, "it may be empty"
        value = _value(body[0], chomping)
        parts += [text[done : header.end() - len(chomping) - 2], json.dumps(value)]
        parts.append("\n")
        done = body.end()
        header = _HEADER.search(text, done)
    return "".join([*parts, text[done:]])


@functools.cache
def _lines_below(column: int) -> re.Pattern[str]:
    """The lines that are indented further than a column, and empty ones."""
    return re.compile(rf"(?: {{{column + 1},}}[^\n]*\n| *\n)*+")


def _value(body: str, chomping: str) -> str:
    """What a literal stands for.

    Args:
        body: Its lines.
        chomping: ``-`` or ``+``, or nothing.
    """
    if _BODY.fullmatch(body) is None:
        raise NotPlainError
    lines = body.split("\n")[:-1]
    begin = next((place for place, line in enumerate(lines) if line.strip(" ")), None)
    if begin is None:
        raise NotPlainError
    # The first line with text says how far all are indented.
    indent = len(lines[begin]) - len(lines[begin].lstrip(" "))
    too_little = any(line[:indent].strip(" ") for line in lines)
    if too_little or any(len(line) > indent for line in lines[:begin]):
        raise NotPlainError
    made = "\n".join(line[indent:] for line in lines)
    text = made.rstrip("\n")
    if chomping == "-":
        return text
    return f"{made}\n" if chomping else f"{text}\n"
