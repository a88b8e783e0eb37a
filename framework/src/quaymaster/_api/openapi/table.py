"""The table of fields: every kind of object, with all its fields."""

import functools
import gzip
from collections.abc import Mapping
from importlib import resources
from typing import Final, TypeAlias

import msgspec

__all__ = ["Reference", "fields_of", "structure_of"]

Reference: TypeAlias = int | list[int] | dict[str, int]
"""What a field holds: 0 for anything, the number of a structure or (below 0) of a
simple type, or such a number in a list or (under an empty key) in a map."""


class _Table(msgspec.Struct, frozen=True, kw_only=True):
    """The whole table.

    Attributes:
        kinds: The number of the structure of each kind, such as ``apps/v1 Deployment``.
        structures: All of them, by their numbers.
    """

    kinds: dict[str, int]
    structures: list[dict[str, Reference]]


_FILE: Final = "fields.json.gz"


def structure_of(api_version: str, kind: str) -> int:
    """The structure of a kind of object; 0 if Kubernetes itself has no such kind."""
    return _table().kinds.get(f"{api_version} {kind}", 0)


def fields_of(structure: int) -> Mapping[str, Reference]:
    """The fields that a structure has."""
    return _table().structures[structure]


@functools.cache
def _table() -> _Table:
    text = resources.files(__package__).joinpath(_FILE).read_bytes()
    return msgspec.json.decode(gzip.decompress(text), type=_Table)
