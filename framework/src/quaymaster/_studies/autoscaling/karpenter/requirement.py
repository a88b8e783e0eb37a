"""A requirement on one label: a set of values, or all values but some.

Mirrors ``pkg/scheduling/requirement.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from quaymaster._api.objects.requirements import parse_int64
from quaymaster._studies.autoscaling.karpenter.labels import NORMALIZED_LABELS

__all__ = ["Requirement"]

_MAX_INT: Final = 2**63 - 1
_NO_VALUES: Final[frozenset[str]] = frozenset()
_SHOWN: Final = 5


# A msgspec struct, not an attrs class: solving makes many, and keeps results by them.
class Requirement(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The values that a label may have.

    Attributes:
        key: The label.
        complement: Whether `values` are those that it may not have.
        values: The values.
        gte: The least number that is allowed, or None.
        lte: The largest number that is allowed, or None.
        min_values: How many values the types of a claim must have at least, or None.
    """

    key: str
    complement: bool = False
    values: frozenset[str] = _NO_VALUES
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None

    @classmethod
    def of(
        cls,
        key: str,
        operator: str,
        values: Iterable[str] = (),
        min_values: int | None = None,
    ) -> "Requirement":
        """Make a requirement from what a pod or a pool says.

        Args:
            key: The label; old names are replaced.
            operator: ``In``, ``NotIn``, ``Exists``, ``DoesNotExist``, ``Gt``, ``Lt``,
                ``Gte`` or ``Lte``.
            values: The values; one number for comparisons.
            min_values: See the class.
        """
        key = NORMALIZED_LABELS.get(key, key)
        if operator == "In":
            return cls(key, False, frozenset(values), None, None, min_values)
        if operator == "NotIn":
            return cls(key, True, frozenset(values), None, None, min_values)
        if operator == "Exists":
            return cls(key, True, _NO_VALUES, None, None, min_values)
        if operator == "DoesNotExist":
            return cls(key, False, _NO_VALUES, None, None, min_values)
        return cls._bounded(key, operator, _number(values), min_values)

    @classmethod
    def _bounded(
        cls, key: str, operator: str, number: int, min_values: int | None
    ) -> "Requirement":
        # Nothing is larger than this, and one more would wrap around in Go.
        if operator == "Gt" and number == _MAX_INT:
            return cls(key)
        gte = {"Gt": number + 1, "Gte": number}.get(operator)
        lte = {"Lt": number - 1, "Lte": number}.get(operator)
        return cls(key, True, _NO_VALUES, gte, lte, min_values)

    @property
    def operator(self) -> str:
        """The operator: ``In``, ``NotIn``, ``Exists`` (with bounds) or the last."""
        if self.complement:
            return "NotIn" if self.values else "Exists"
        return "In" if self.values else "DoesNotExist"

    @property
    def is_negative(self) -> bool:
        """Whether nodes without the label meet it: ``NotIn`` or ``DoesNotExist``."""
        return self.complement == bool(self.values)

    @property
    def single_value(self) -> str | None:
        """The only value that is allowed, or None if there are more, or none."""
        if self.complement or len(self.values) != 1:
            return None
        [value] = self.values
        return value

    def has(self, value: str) -> bool:
        """Return whether a value is allowed."""
        return (value in self.values) != self.complement and _is_within(
            value, self.gte, self.lte
        )

    def intersects(self, other: "Requirement") -> bool:
        """Return whether some value is allowed by both."""
        gte, lte = _larger(self.gte, other.gte), _smaller(self.lte, other.lte)
        if gte is not None and lte is not None and gte > lte:
            return False
        if self.complement:
            if other.complement:
                return True
            values = other.values - self.values
        elif other.complement:
            values = self.values - other.values
        else:
            values = self.values & other.values
        if gte is None and lte is None:
            return bool(values)
        return any(_is_within(value, gte, lte) for value in values)

    def intersection(self, other: "Requirement") -> "Requirement":
        """Return the requirement for values that both allow."""
        gte, lte = _larger(self.gte, other.gte), _smaller(self.lte, other.lte)
        least = _larger(self.min_values, other.min_values)
        if gte is not None and lte is not None and gte > lte:
            return Requirement(self.key, False, _NO_VALUES, None, None, least)
        values = self._common_values(other)
        if gte is not None or lte is not None:
            values = frozenset(v for v in values if _is_within(v, gte, lte))
        if self.complement and other.complement:
            return Requirement(self.key, True, values, gte, lte, least)
        return Requirement(self.key, False, values, None, None, least)

    def _common_values(self, other: "Requirement") -> frozenset[str]:
        if self.complement:
            if other.complement:
                return self.values | other.values
            return other.values - self.values
        if other.complement:
            return self.values - other.values
        return self.values & other.values

    def with_min_values(self, min_values: int) -> "Requirement":
        """Return the requirement with another number of values."""
        return msgspec.structs.replace(self, min_values=min_values)

    def trees(self) -> Sequence[dict[str, Any]]:
        """Return the requirement as the spec of a NodeClaim has it.

        Two bounds become two requirements; bounds hide the values that are excluded.
        """
        bounds = [("Gte", self.gte), ("Lte", self.lte)]
        shown = [(op, [str(bound)]) for op, bound in bounds if bound is not None]
        if not shown:
            shown = [(self.operator, sorted(self.values))]
        trees = []
        for operator, values in shown:
            tree: dict[str, Any] = {"key": self.key, "operator": operator}
            if values:
                tree["values"] = values
            if self.min_values is not None:
                tree["minValues"] = self.min_values
            trees.append(tree)
        return trees

    def __str__(self) -> str:
        """Return the text of upstream's errors."""
        text = f"{self.key} {self.operator}"
        if self.values:
            names = sorted(self.values)
            if len(names) > _SHOWN:
                names[_SHOWN:] = [f"and {len(names) - _SHOWN} others"]
            text = f"{text} [{' '.join(names)}]"
        if self.gte is not None:
            text = f"{text} >={self.gte}"
        if self.lte is not None:
            text = f"{text} <={self.lte}"
        if self.min_values is not None:
            text = f"{text} minValues {self.min_values}"
        return text


def _number(values: Iterable[str]) -> int:
    # The API server has validated the number; Go reads anything else as 0.
    return next((parse_int64(value) or 0 for value in values), 0)


def _is_within(value: str, gte: int | None, lte: int | None) -> bool:
    if gte is None and lte is None:
        return True
    number = parse_int64(value)
    if number is None:
        return False
    return (gte is None or number >= gte) and (lte is None or number <= lte)


def _larger(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return max(left, right)


def _smaller(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)
