"""The suffix that names of nodes share, such as ``.ec2.internal``."""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["common_suffix", "without_suffix"]

_SEPARATOR: Final = ", "
_NO_NAME: Final = re.compile(r"|-|\(.*|.*\s.*")
"""Cells without a name: empty ones, and such as ``3 nodes`` or ``(pending)``."""
_COUNT: Final = re.compile(r" x\d+$")
"""How many pods are on a node, after its name."""


def common_suffix(cells: Iterable[str]) -> str:
    """Return what all names end in, from a dot on; empty if that is nothing.

    A single name says nothing about others: it loses all but its first label, as
    ``hostname --short`` does. IP addresses have no suffix.

    Args:
        cells: Names, or lists of names separated by commas; ``x3`` may follow a name.
    """
    parts = (_COUNT.sub("", part) for cell in cells for part in _names(cell))
    names = {name for name in parts if not _NO_NAME.fullmatch(name)}
    if not names:
        return ""
    shared: list[str] | None = None
    for name in names:
        labels = name.split(".")[1:]
        if labels and labels[-1].isdecimal():
            return ""
        shared = labels if shared is None else _shared_end(shared, labels)
        if not shared:
            return ""
    return f".{'.'.join(shared or ())}"


def without_suffix(cell: str, suffix: str) -> str:
    """Return a cell with names that lack the suffix."""
    return _SEPARATOR.join(_without(part, suffix) for part in _names(cell))


def _without(part: str, suffix: str) -> str:
    count = _COUNT.search(part)
    end = count.group() if count else ""
    return part.removesuffix(end).removesuffix(suffix) + end


def _names(cell: str) -> list[str]:
    return cell.split(_SEPARATOR)


def _shared_end(first: list[str], second: list[str]) -> list[str]:
    shared: list[str] = []
    for one_label, other_label in zip(reversed(first), reversed(second), strict=False):
        if one_label != other_label:
            break
        shared.insert(0, one_label)
    return shared
