"""Cuts long tables of displays, with a note how to see all."""

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["cut_note", "first"]

T = TypeVar("T")


def first(items: Sequence[T], most: int) -> tuple[Sequence[T], int]:
    """Return the first items, and how many are left out."""
    shown = items[:most]
    return shown, len(items) - len(shown)


def cut_note(left_out: int, total: int, noun: str, kind: str) -> str:
    """Return a note that items are left out; empty if none are.

    Args:
        left_out: How many are left out.
        total: How many there are.
        noun: What they are, in the plural.
        kind: The name of the class whose attributes have all.
    """
    if not left_out:
        return ""
    return (
        f"{total - left_out:,} of {total:,} {noun} are shown; to_arrow() and the "
        f"attributes of this {kind} have all"
    )
