"""Looks up fields in trees by their paths."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["Tree", "field_at", "first_field", "is_unset"]

Tree = Mapping[str, object]

_NAMES: Final = re.compile(r"\[\"([^\"]+)\"\]|([^.\[\]]+)")


def field_at(tree: object, path: str) -> object:
    """Return the value of a field; None if it does not exist."""
    for quoted, plain in _NAMES.findall(path):
        name = quoted or plain
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def first_field(
    trees: Iterable[Tree], paths: Iterable[str]
) -> tuple[str, object] | None:
    """Return path and value of the first field that exists, or None.

    Args:
        trees: Where the fields are looked up, in this order.
        paths: The possible paths.
    """
    paths = tuple(paths)
    for tree in trees:
        for path in paths:
            value = field_at(tree, path)
            if value is not None:
                return path, value
    return None


def is_unset(value: object) -> bool:
    """Return whether a value counts as no value."""
    return value is None or value is False or value in ("", 0, [], {})
