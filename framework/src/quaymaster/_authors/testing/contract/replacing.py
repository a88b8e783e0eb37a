"""Replaces an attribute for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["replacing"]


@contextmanager
def replacing(owner: object, name: str, value: object) -> Iterator[None]:
    """Replace an attribute, which may be inherited, in the block."""
    own = vars(owner)
    before = {name: own[name]} if name in own else {}
    setattr(owner, name, value)
    try:
        yield
    finally:
        delattr(owner, name)
        for each, original in before.items():
            setattr(owner, each, original)
