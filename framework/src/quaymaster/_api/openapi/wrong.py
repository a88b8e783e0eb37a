"""Finds values whose type is not that of their field.

Mirrors the decoding of the API server (sigs.k8s.io/json): no value is converted, and a
null is the empty value of any type.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quaymaster._api.openapi.scalars import expected_type
from quaymaster._api.openapi.table import FieldTable, Reference

__all__ = ["WrongValue", "find_wrong"]


class WrongValue(NamedTuple):
    """A value whose type is not that of its field.

    Attributes:
        path: Its path, such as ``spec.containers[0].env[0].value``.
        expected: The expected value, such as ``a string``.
        value: The actual value.
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
        reference: The expected type.
        table: The fields of Kubernetes' kinds.
    """
    if tree is None or reference == 0:
        return ()
    if isinstance(reference, int):
        if reference > 0:
            return _in_structure(tree, reference, table)
        expected = expected_type(tree, reference)
        return (WrongValue("", expected, tree),) if expected else ()
    if isinstance(reference, list):
        return _in_list(tree, reference[0], table)
    return _in_map(tree, reference[""], table)


def _in_list(tree: object, item: Reference, table: FieldTable) -> Sequence[WrongValue]:
    if not isinstance(tree, list):
        return (WrongValue("", "a list", tree),)
    wrong_values: list[WrongValue] = []
    for index, value in enumerate(tree):
        inner = find_wrong(value, item, table)
        if inner:
            wrong_values += _below(f"[{index}]", inner)
    return wrong_values


def _in_map(tree: object, item: Reference, table: FieldTable) -> Sequence[WrongValue]:
    if not isinstance(tree, dict):
        return (WrongValue("", "an object", tree),)
    wrong_values: list[WrongValue] = []
    for key, value in tree.items():
        inner = find_wrong(value, item, table)
        if inner:
            wrong_values += _below(key, inner)
    return wrong_values


def _in_structure(
    tree: object, structure: int, table: FieldTable
) -> Sequence[WrongValue]:
    if not isinstance(tree, dict):
        return (WrongValue("", "an object", tree),)
    fields = table.fields_of(structure)
    wrong_values: list[WrongValue] = []
    for name, value in tree.items():
        inner = find_wrong(value, fields.get(name, 0), table)
        if inner:
            wrong_values += _below(name, inner)
    return wrong_values


def _below(step: str, wrong_values: Sequence[WrongValue]) -> Iterator[WrongValue]:
    """Yield the same findings, with a step before their paths."""
    for finding in wrong_values:
        dot = "." if finding.path and not finding.path.startswith("[") else ""
        yield finding._replace(path=f"{step}{dot}{finding.path}")
