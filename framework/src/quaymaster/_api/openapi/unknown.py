"""Finds unknown fields.

Mirrors the strict decoding of the API server (sigs.k8s.io/json, ``UnmarshalStrict``):
names are told apart by their case, and what has a form of its own, such as a quantity
or a custom object, is not looked into.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from quaymaster._api.openapi.scalars import is_scalar
from quaymaster._api.openapi.table import Reference, fields_of
from quaymaster._base.suggestions import did_you_mean

__all__ = ["UnknownField", "find_unknown", "unknown_field"]


class UnknownField(NamedTuple):
    """A field that the object around it does not have.

    Attributes:
        path: Where it is, such as ``spec.containers[0].imagee``.
        hint: The field that was meant, as the end of a sentence; may be empty.
    """

    path: str
    hint: str


def find_unknown(
    tree: object, reference: Reference, path: str = ""
) -> Iterator[UnknownField]:
    """Find the unknown fields of a tree; values of wrong types are skipped.

    Args:
        tree: Dicts, lists, strings, numbers.
        reference: What should be there.
        path: The place of the tree in its object.
    """
    if isinstance(reference, int):
        if reference > 0 and isinstance(tree, Mapping):
            yield from _in_structure(tree, reference, path)
    elif isinstance(reference, list):
        for index, item in enumerate(tree if isinstance(tree, list) else ()):
            yield from find_unknown(item, reference[0], f"{path}[{index}]")
    else:
        for key, value in tree.items() if isinstance(tree, Mapping) else ():
            yield from find_unknown(value, reference[""], f"{path}.{key}")


def unknown_field(name: str, structure: int, path: str) -> UnknownField:
    """Describe a field of a name that a structure does not have."""
    return UnknownField(path, _hint(name, structure))


def _in_structure(
    tree: Mapping[str, object], structure: int, path: str
) -> Iterator[UnknownField]:
    fields = fields_of(structure)
    for name, value in tree.items():
        where = f"{path}.{name}" if path else name
        reference = fields.get(name)
        if reference is None:
            yield unknown_field(name, structure, where)
        elif not is_scalar(reference):
            yield from find_unknown(value, reference, where)


@functools.lru_cache(maxsize=1024)
def _hint(name: str, structure: int) -> str:
    return did_you_mean(name, fields_of(structure))
