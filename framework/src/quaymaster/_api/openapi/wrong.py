"""Finds values that are not of the types of their fields.

Mirrors the decoding of the API server (sigs.k8s.io/json): nothing is converted, and a
null is the empty value of any type.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quaymaster._api.openapi.scalars import wanted_instead
from quaymaster._api.openapi.table import FieldTable, Reference

__all__ = ["WrongValue", "find_wrong"]


class WrongValue(NamedTuple):
    """A value that is not of the type of its field.

    Attributes:
        path: Where it is, such as ``spec.containers[0].env[0].value``.
        expected: What should be there, such as ``a string``.
        value: What is.
    """

    path: str
    expected: str
    value: object


def find_wrong(
    tree: object, reference: Reference, table: FieldTable
) -> Sequence[WrongValue]:
    """Find the values of wrong types in a tree; unknown fields are skipped.

    Args:
        tree: Dicts, lists, strings, numbers.
        reference: What should be there.
        table: The fields that there are.
    """
    if tree is None or reference == 0:
        return ()
    if isinstance(reference, int):
        if reference > 0:
            return _in_structure(tree, reference, table)
        expected = wanted_instead(tree, reference)
        return (WrongValue("", expected, tree),) if expected else ()
    if isinstance(reference, list):
        return _in_list(tree, reference[0], table)
    return _in_map(tree, reference[""], table)


def _in_list(tree: object, item: Reference, table: FieldTable) -> Sequence[WrongValue]:
    if not isinstance(tree, list):
        return (WrongValue("", "a list", tree),)
    found: list[WrongValue] = []
    for index, value in enumerate(tree):
        inner = find_wrong(value, item, table)
        if inner:
            found += _below(f"[{index}]", inner)
    return found


def _in_map(tree: object, item: Reference, table: FieldTable) -> Sequence[WrongValue]:
    if not isinstance(tree, dict):
        return (WrongValue("", "an object", tree),)
    found: list[WrongValue] = []
    for key, value in tree.items():
        inner = find_wrong(value, item, table)
        if inner:
            found += _below(key, inner)
    return found


def _in_structure(
    tree: object, structure: int, table: FieldTable
) -> Sequence[WrongValue]:
    if not isinstance(tree, dict):
        return (WrongValue("", "an object", tree),)
    fields = table.fields_of(structure)
    found: list[WrongValue] = []
    for name, value in tree.items():
        inner = find_wrong(value, fields.get(name, 0), table)
        if inner:
            found += _below(name, inner)
    return found


def _below(step: str, found: Sequence[WrongValue]) -> Iterator[WrongValue]:
    """The same findings, their paths extended by a step at the beginning."""
    for one in found:
        dot = "." if one.path and not one.path.startswith("[") else ""
        yield one._replace(path=f"{step}{dot}{one.path}")
