"""Differences of trees, as JSON merge patches (RFC 7386)."""

from collections.abc import Mapping
from typing import Any

__all__ = ["merge_patch", "patched"]


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What makes one tree of another; empty if they are equal.

    Args:
        old: A tree without nulls.
        new: Another one.
    """
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            inner = merge_patch(before, value)
            if inner:
                patch[key] = inner
        elif key not in old or before != value:
            patch[key] = value
    return patch


def patched(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A tree with a patch; what does not change is shared."""
    new = dict(old)
    for key, value in patch.items():
        if value is None:
            new.pop(key, None)
        elif isinstance(value, Mapping):
            before = new.get(key)
            new[key] = patched(before if isinstance(before, Mapping) else {}, value)
        else:
            new[key] = value
    return new
