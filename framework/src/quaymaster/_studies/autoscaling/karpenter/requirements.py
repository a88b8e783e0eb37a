"""Requirements on the labels of a node, one for each label.

Mirrors ``pkg/scheduling/requirements.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from quaymaster._studies.autoscaling.karpenter.labels import RESTRICTED_LABELS
from quaymaster._studies.autoscaling.karpenter.requirement import Requirement

__all__ = ["Requirement", "Requirements"]

_NOTHING: Final[frozenset[str]] = frozenset()


class _Condition(Protocol):
    """A requirement of a node selector; those of pools have ``min_values``, too."""

    @property
    def key(self) -> str: ...

    @property
    def operator(self) -> str: ...

    @property
    def values(self) -> tuple[str, ...]: ...


class Requirements:
    """Requirements by label; one label has one requirement.

    Args:
        requirements: The first ones, as for `add`.
    """

    __slots__ = ("by_key",)

    by_key: dict[str, Requirement]

    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        self.by_key = {}
        self.add(requirements)

    @classmethod
    def from_labels(cls, labels: Mapping[str, str]) -> "Requirements":
        """Return the requirements that only these labels meet."""
        return cls(Requirement.of(key, "In", (value,)) for key, value in labels.items())

    @classmethod
    def from_conditions(cls, conditions: Iterable[_Condition]) -> "Requirements":
        """Return those of a node selector term, a pool, a claim or an overlay."""
        return cls(
            Requirement.of(
                condition.key,
                condition.operator,
                condition.values,
                getattr(condition, "min_values", None),
            )
            for condition in conditions
        )

    def __contains__(self, key: str) -> bool:
        return key in self.by_key

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.by_key.values())

    def __len__(self) -> int:
        return len(self.by_key)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Requirements):
            return NotImplemented
        return self.by_key == other.by_key

    __hash__ = None  # type: ignore[assignment]  # they change

    def get(self, key: str) -> Requirement:
        """Return the requirement on a label; without one, any value is allowed."""
        requirement = self.by_key.get(key)
        return Requirement(key, True) if requirement is None else requirement

    def copy(self) -> "Requirements":
        """Return a copy that can be narrowed."""
        copied = Requirements.__new__(Requirements)
        copied.by_key = self.by_key.copy()
        return copied

    def add(self, requirements: Iterable[Requirement]) -> None:
        """Narrow the requirements by more."""
        by_key = self.by_key
        for requirement in requirements:
            present = by_key.get(requirement.key)
            if present is None:
                by_key[requirement.key] = requirement
            elif present != requirement:
                by_key[requirement.key] = requirement.intersection(present)

    def replace(self, requirement: Requirement) -> None:
        """Set the requirement on a label, whatever it was."""
        self.by_key[requirement.key] = requirement

    def remove(self, key: str) -> None:
        """Remove the requirement on a label, if any."""
        self.by_key.pop(key, None)

    @property
    def has_min_values(self) -> bool:
        """Whether a requirement says how many values there must be."""
        return any(r.min_values is not None for r in self.by_key.values())

    def intersects(self, other: "Requirements") -> bool:
        """Return whether labels that both name have a value that both allow."""
        small, large = self.by_key, other.by_key
        if len(small) > len(large):
            small, large = large, small
        for key, requirement in small.items():
            counterpart = large.get(key)
            if counterpart is None or requirement.intersects(counterpart):
                continue
            # Two that allow nodes without the label never conflict.
            if not (requirement.is_negative and counterpart.is_negative):
                return False
        return True

    def compatible(
        self, other: "Requirements", allow_undefined: frozenset[str] = _NOTHING
    ) -> bool:
        """Return whether a node with these requirements may meet others.

        Args:
            other: The requirements to meet.
            allow_undefined: Labels that need not be among these requirements.
        """
        return not self._is_undefined(other, allow_undefined) and self.intersects(other)

    def _is_undefined(
        self, other: "Requirements", allow_undefined: frozenset[str]
    ) -> bool:
        by_key = self.by_key
        for key, requirement in other.by_key.items():
            if (
                key not in by_key
                and key not in allow_undefined
                and not requirement.is_negative
            ):
                return True
        return False

    def problem_with(
        self, other: "Requirements", allow_undefined: frozenset[str] = _NOTHING
    ) -> str:
        """Return why others are not compatible, in upstream's words, or empty.

        Upstream names labels in the order of a map; here, in that of the alphabet.
        """
        for key in sorted(other.by_key):
            if key in self.by_key or key in allow_undefined:
                continue
            if not other.by_key[key].is_negative:
                hint = _hint(self.by_key, key, allow_undefined)
                return f'label "{key}" does not have known values{hint}'
        return "; ".join(self._conflicts(other))

    def _conflicts(self, other: "Requirements") -> Iterator[str]:
        for key in sorted(self.by_key.keys() & other.by_key.keys()):
            mine, theirs = self.by_key[key], other.by_key[key]
            negative = mine.is_negative and theirs.is_negative
            if not negative and not mine.intersects(theirs):
                yield f"key {key}, {theirs} not in {mine}"

    def trees(self) -> list[dict[str, Any]]:
        """Return the requirements as the spec of a NodeClaim has them, by label."""
        return [
            tree for key in sorted(self.by_key) for tree in self.by_key[key].trees()
        ]

    def __str__(self) -> str:
        """Return the text of upstream's errors."""
        shown = (r for key, r in self.by_key.items() if key not in RESTRICTED_LABELS)
        return ", ".join(sorted(map(str, shown)))

    def __repr__(self) -> str:
        return f"Requirements({self})"


def _hint(defined: Iterable[str], key: str, allow_undefined: frozenset[str]) -> str:
    """Return which label was probably meant."""
    before, slash, after = key.partition("/")
    suffix = after if slash else before
    for name in (*sorted(allow_undefined), *sorted(defined)):
        if key in name or name.endswith(suffix):
            return f' (typo of "{name}"?)'
    return ""
