"""Differences of trees, as JSON merge patches (RFC 7386)."""

from collections.abc import Mapping
from typing import Any

__all__ = ["merge_patch", "patched"]


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch from one tree to another; empty if they are equal.

    Args:
        old: A tree without nulls.
        new: Another tree.
    """
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if before == value and key in old:
            continue
        # Trees consist of dicts; isinstance with Mapping takes ten times as long.
        if isinstance(before, dict) and isinstance(value, dict):
            patch[key] = merge_patch(before, value)
        else:
            patch[key] = value
    return patch


def patched(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Apply a patch to a tree; unchanged parts are shared."""
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
