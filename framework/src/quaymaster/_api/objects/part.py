"""Reads a part of an object that has no class, such as a security context."""

from collections.abc import Mapping, Sequence
from typing import Any

from quaymaster._api.objects.report import Report

__all__ = ["Part"]

_EMPTY: Mapping[str, Any] = {}


class Part:
    """A part of an object's tree, its path, and the report of its problems.

    A field that is null or of another type is as one that is missing: wrong types are
    reported where manifests are loaded.

    Args:
        tree: The fields of the part.
        path: Its path in the object.
        report: Collects the problems.
    """

    __slots__ = ("path", "report", "tree")

    def __init__(self, tree: object, path: str, report: Report) -> None:
        self.tree = _mapping(tree)
        self.path = path
        self.report = report

    def at(self, field: str) -> str:
        """Return the path of a field."""
        return f"{self.path}.{field}" if self.path else field

    def has(self, field: str) -> bool:
        """Return whether a field is set, even to an empty value."""
        return self.tree.get(field) is not None

    def text(self, field: str) -> str:
        """Return a text; an empty one if it is missing."""
        value = self.tree.get(field)
        return value if isinstance(value, str) else ""

    def number(self, field: str) -> int | None:
        """Return an integer, or None."""
        value = self.tree.get(field)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def is_true(self, field: str) -> bool:
        """Return whether a field is true."""
        return self.tree.get(field) is True

    def items(self, field: str) -> Sequence[Any]:
        """Return the items of a list; none if it is missing."""
        value = self.tree.get(field)
        return value if isinstance(value, list | tuple) else ()

    def mapping(self, field: str) -> Mapping[str, Any]:
        """Return a map; an empty one if it is missing."""
        return _mapping(self.tree.get(field))

    def part(self, field: str) -> "Part | None":
        """Return a part of the part, or None if it is missing."""
        value = self.tree.get(field)
        if value is None or (type(value) is not dict and not _is_mapping(value)):
            return None
        return Part(value, self.at(field), self.report)

    def parts(self, field: str) -> "Sequence[Part]":
        """Return the items of a list as parts."""
        items = self.items(field)
        if not items:
            return ()
        path, report = self.at(field), self.report
        return [
            Part(item, f"{path}[{index}]", report) for index, item in enumerate(items)
        ]

    def add(self, field: str, message: str) -> None:
        """Report a problem of a field."""
        self.report.add(self.at(field), message)

    def expect(self, is_right: bool, field: str, expected: str, got: object) -> None:
        """Report a problem of a field unless its value is as expected."""
        if not is_right:
            self.report.expect(False, self.at(field), expected, got)

    def require(self, *fields: str) -> None:
        """Report the texts that are missing or empty."""
        for field in fields:
            if not self.text(field):
                self.add(field, "expected one, got none")

    def one_of(self, field: str, *allowed: str) -> None:
        """Report a text that is set, but is none of the allowed ones."""
        value = self.tree.get(field)
        if value is not None and value not in allowed:
            self.report.one_of(self.text(field), allowed, self.at(field))

    def in_range(self, field: str, least: int, most: int) -> None:
        """Report a number that is set, but is too small or too large."""
        if field in self.tree:
            self.report.in_range(self.number(field), self.at(field), least, most)


def _mapping(value: object) -> Mapping[str, Any]:
    # A plain dict is recognized at a third of the cost.
    if type(value) is dict or _is_mapping(value):
        return value  # type: ignore[return-value]  # a mapping, by the line before
    return _EMPTY


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)
