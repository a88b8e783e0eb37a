"""The beginning that names of topology domains share, such as ``eu-west-``."""

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Final

__all__ = ["common_prefix", "without_prefix"]

_SEPARATOR: Final = ", "
_NUMBER: Final = re.compile(r"([^\s(]\S*) \d+")
"""A domain and its number. Others are such as ``(no label) 2`` and ``0 to 3 on ..``."""
_PART: Final = re.compile(r".*[-._]")


def common_prefix(cells: Iterable[str]) -> str:
    """Return what the names of all domains begin with, up to a separator, or "".

    A single name says nothing about others, so it has no prefix.

    Args:
        cells: Lists of domains with their numbers, such as ``zone-a 1, zone-b 0``.
    """
    names = {
        match[1]
        for cell in cells
        for part in cell.split(_SEPARATOR)
        if (match := _NUMBER.fullmatch(part))
    }
    if len(names) < 2:
        return ""
    match = _PART.match(_beginning(min(names), max(names)))
    return match[0] if match and match[0] not in names else ""


def without_prefix(cell: str, prefix: str) -> str:
    """Return a cell with names of domains that lack the prefix."""
    parts = cell.split(_SEPARATOR)
    return _SEPARATOR.join(part.removeprefix(prefix) for part in parts)


def _beginning(name: str, other: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(name, other, strict=False))
    return "".join(letter for letter, _ in pairs)
