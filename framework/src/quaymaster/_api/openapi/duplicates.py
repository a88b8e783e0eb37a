"""Finds duplicate keys of JSON objects; other readers keep the last value."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

__all__ = ["Path", "find_duplicates", "path_text"]

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value."""


class _Twice(dict[str, object]):
    """An object with duplicate keys.

    Attributes:
        keys_again: The duplicate keys.
    """

    keys_again: tuple[str, ...] = ()


def find_duplicates(text: bytes) -> tuple[object, list[Path]]:
    """Read a JSON text, and find the duplicate keys.

    Returns:
        The tree, with all numbers as floats, and the paths of the duplicate keys.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    duplicates: list[_Twice] = []

    def make(pairs: list[tuple[str, object]]) -> dict[str, object]:
        mapping = dict(pairs)
        if len(mapping) == len(pairs):
            return mapping
        twice = _Twice(mapping)
        counts = Counter(key for key, _ in pairs)
        twice.keys_again = tuple(key for key in mapping if counts[key] > 1)
        duplicates.append(twice)
        return twice

    # As floats, since integers may be too long for Python to read.
    tree = json.loads(text, object_pairs_hook=make, parse_int=float)
    return tree, list(_places(tree, ())) if duplicates else []


def path_text(path: Path) -> str:
    """Format a path for messages, such as ``spec.containers[0].image``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def _places(tree: object, path: Path) -> Iterator[Path]:
    if isinstance(tree, _Twice):
        yield from ((*path, key) for key in tree.keys_again)
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _places(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _places(value, (*path, index))
