"""Texts that have to fit a width: folded between words, or shortened."""

from typing import Final

from rich.cells import cell_len, chop_cells

__all__ = ["folded", "longest_word", "shortened"]

_LEFT_OUT: Final = ".."
"""In place of the middle of a name. No name in Kubernetes has two dots in a row."""


def folded(text: str, width: int | None) -> list[str]:
    """Fold a text into lines of a width, between words only.

    A word that is longer than a line gets its own line.
    """
    if width is None or cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def longest_word(text: str) -> int:
    """Return the width of the longest word."""
    return max(map(cell_len, text.split(" ")))


def shortened(text: str, width: int) -> str:
    """Shorten a text in its middle, since names differ at both ends."""
    if cell_len(text) <= width:
        return text
    room = max(width - len(_LEFT_OUT), 2)
    end = room // 2
    return _beginning(text, room - end) + _LEFT_OUT + _end(text, end)


def _beginning(text: str, width: int) -> str:
    return chop_cells(text, width)[0]


def _end(text: str, width: int) -> str:
    return chop_cells(text[::-1], width)[0][::-1]
