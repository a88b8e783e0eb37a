"""Conditions on labels, compiled and validated.

Mirrors ``Requirement`` and its validation (k8s.io/apimachinery v0.36, ``pkg/labels``).
"""

import enum
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from quaymaster._api.objects import LabelSelectorRequirement, NodeSelectorRequirement

__all__ = [
    "LABEL_OPERATORS",
    "NODE_OPERATORS",
    "Operator",
    "Requirement",
    "check_key",
    "check_value",
    "compile_requirements",
    "is_label_key",
    "is_label_name",
    "is_label_value",
    "is_subdomain",
    "parse_int64",
]

_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII
)
_NAME: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)


class Operator(enum.StrEnum):
    """How a requirement compares a label with its values."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GREATER_THAN = "Gt"
    LESS_THAN = "Lt"


LABEL_OPERATORS: Final[frozenset[str]] = frozenset(
    {Operator.IN, Operator.NOT_IN, Operator.EXISTS, Operator.DOES_NOT_EXIST}
)
NODE_OPERATORS: Final[frozenset[str]] = frozenset(Operator)

_LISTING: Final = frozenset({Operator.IN, Operator.NOT_IN})
_SIGNS: Final = {
    Operator.IN: "=",
    Operator.NOT_IN: "!=",
    Operator.GREATER_THAN: ">",
    Operator.LESS_THAN: "<",
}


class Requirement(NamedTuple):
    """One condition on one label.

    Attributes:
        key: The label.
        operator: The comparison.
        values: The values to compare with: sorted, without duplicates.
    """

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the labels meet the condition."""
        value = labels.get(self.key)
        operator = self.operator
        if operator is Operator.IN:
            return value is not None and value in self.values
        if operator is Operator.NOT_IN:
            # As upstream, an object without the label is selected.
            return value is None or value not in self.values
        if operator is Operator.EXISTS:
            return value is not None
        if operator is Operator.DOES_NOT_EXIST:
            return value is None
        number = None if value is None else parse_int64(value)
        if number is None:
            return False
        bound = int(self.values[0])
        return number > bound if operator is Operator.GREATER_THAN else number < bound

    def __str__(self) -> str:
        """Return the condition as kubectl writes it, such as ``tier in (a,b)``."""
        key, operator, values = self.key, self.operator, ",".join(self.values)
        if operator is Operator.EXISTS:
            return key
        if operator is Operator.DOES_NOT_EXIST:
            return f"!{key}"
        sign = _SIGNS[operator]
        if operator in _LISTING and len(self.values) != 1:
            return f"{key} {operator.lower()} ({values})"
        return f"{key}{sign}{values}"


def parse_int64(text: str) -> int | None:
    """Read a decimal 64-bit integer as Go does; None if the text is not one."""
    # Of longer texts, `int` may be slow or fail; only leading zeros can make an int64
    # that long.
    if len(text) > 64 or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def compile_requirements(
    conditions: Iterable[LabelSelectorRequirement | NodeSelectorRequirement],
    allowed: frozenset[str],
    path: str,
    problems: list[str],
) -> list[Requirement]:
    """Compile conditions; invalid ones add to the problems.

    Args:
        conditions: The conditions.
        allowed: The allowed operators.
        path: The path of the conditions.
        problems: Receives a line for each problem.
    """
    requirements = []
    for index, condition in enumerate(conditions):
        mistakes = _problems_of(condition, allowed, f"{path}[{index}]")
        problems += mistakes
        if not mistakes:
            values = tuple(sorted(set(condition.values)))
            operator = Operator(condition.operator)
            requirements.append(Requirement(condition.key, operator, values))
    return requirements


def _problems_of(
    condition: LabelSelectorRequirement | NodeSelectorRequirement,
    allowed: frozenset[str],
    path: str,
) -> list[str]:
    operator = condition.operator
    if operator not in allowed:
        names = ", ".join(sorted(allowed))
        return [f"{path}.operator: expected one of {names}, got {operator!r}"]
    problems: list[str] = []
    check_key(condition.key, f"{path}.key", problems)
    _check_count(operator, condition.values, f"{path}.values", problems)
    for index, value in enumerate(condition.values):
        where = f"{path}.values[{index}]"
        check_value(value, where, problems)
        if operator in ("Gt", "Lt") and parse_int64(value) is None:
            problems.append(f"{where}: expected an integer, got {value!r}")
    return problems


def _check_count(
    operator: str, values: Sequence[str], path: str, problems: list[str]
) -> None:
    if operator in ("Exists", "DoesNotExist"):
        expected, is_right = "no values", not values
    elif operator in ("Gt", "Lt"):
        expected, is_right = "one value", len(values) == 1
    else:
        expected, is_right = "at least one value", bool(values)
    if not is_right:
        problems.append(
            f"{path}: expected {expected} for {operator}, got {list(values)}"
        )


def check_key(key: str, path: str, problems: list[str]) -> None:
    """Add a problem if this cannot be the key of a label."""
    if not is_label_key(key):
        problems.append(f"{path}: expected a label key, got {key!r}")


def check_value(value: str, path: str, problems: list[str]) -> None:
    """Add a problem if this cannot be the value of a label."""
    if not is_label_value(value):
        problems.append(f"{path}: expected a label value, got {value!r}")


def is_subdomain(text: str, *, any_length: bool = False) -> bool:
    """Return whether a text is a DNS subdomain, as the names of most objects are.

    Args:
        text: The text.
        any_length: Whether more than 253 characters are allowed.
    """
    if len(text) > 253 and not any_length:
        return False
    return _SUBDOMAIN.fullmatch(text) is not None


def is_label_name(text: str) -> bool:
    """Return whether a text of any length has the form of the name of a label."""
    return _NAME.fullmatch(text) is not None


@functools.lru_cache(maxsize=4096)
def is_label_key(key: str) -> bool:
    """Return whether a text can be the key of a label."""
    prefix, slash, name = key.rpartition("/")
    if slash and not is_subdomain(prefix):
        return False
    return len(name) <= 63 and _NAME.fullmatch(name) is not None


@functools.lru_cache(maxsize=4096)
def is_label_value(value: str) -> bool:
    """Return whether a text can be the value of a label."""
    return not value or (len(value) <= 63 and _NAME.fullmatch(value) is not None)
