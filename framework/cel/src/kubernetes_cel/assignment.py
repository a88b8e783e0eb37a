"""Which type may stand where another is expected.

Mirrors ``checker/types.go`` and ``checker/mapping.go`` (cel-go v0.26.0).
"""

from collections.abc import Sequence
from typing import Final

from kubernetes_cel.types import DYN, Kind, Type

__all__ = ["Substitutions", "most_general", "unwrapped"]

_NULLABLE: Final = frozenset(
    {Kind.OPAQUE, Kind.STRUCT, Kind.ANY, Kind.DURATION, Kind.TIMESTAMP}
)
_WITH_PARAMETERS: Final = frozenset({Kind.OPAQUE, Kind.LIST, Kind.MAP})


def unwrapped(found: Type) -> tuple[Type, bool]:
    """Return what an optional type is of, and whether it was one."""
    if found.is_optional:
        return found.parameters[0], True
    return found, False


def _is_wild(found: Type) -> bool:
    return found.is_dynamic or found.kind is Kind.ERROR


def _is_equal_or_less_specific(one: Type, other: Type) -> bool:
    if one.is_dynamic or one.kind is Kind.PARAMETER:
        return True
    if other.is_dynamic or other.kind is Kind.PARAMETER or one.kind != other.kind:
        return False
    if one.kind in _WITH_PARAMETERS:
        return (
            one.name == other.name
            and len(one.parameters) == len(other.parameters)
            and all(map(_is_equal_or_less_specific, one.parameters, other.parameters))
        )
    return one.kind is Kind.TYPE or one == other


def most_general(one: Type, other: Type) -> Type:
    """Return the more general of two types that go together."""
    return one if _is_equal_or_less_specific(one, other) else other


class Substitutions:
    """What the type parameters of an expression have been found to stand for."""

    def __init__(self) -> None:
        self._found: dict[Type, Type] = {}

    def assign(self, one: Sequence[Type], other: Sequence[Type]) -> bool:
        """Say whether types may stand where others are expected, pair by pair.

        What parameters then stand for is remembered, if all may.
        """
        if len(one) != len(other):
            return False
        before = dict(self._found)
        if all(map(self._is_assignable, one, other)):
            return True
        self._found = before
        return False

    def bind(self, parameter: Type, to: Type) -> None:
        """Remember what a parameter stands for."""
        self._found[parameter] = to

    def applied(self, to: Type, *, to_dyn: bool = False) -> Type:
        """Return a type with its parameters replaced.

        Args:
            to: The type.
            to_dyn: Whether parameters that stand for nothing become ``dyn``.
        """
        found = self._found.get(to)
        if found is not None:
            return self.applied(found, to_dyn=to_dyn)
        if to.kind is Kind.PARAMETER:
            return DYN if to_dyn else to
        if not to.parameters:
            return to
        parameters = tuple(self.applied(each, to_dyn=to_dyn) for each in to.parameters)
        return Type(to.kind, to.name, parameters)

    def _is_assignable(self, one: Type, other: Type) -> bool:
        if other.kind is Kind.PARAMETER:
            valid, known = self._stands_for(one, other)
            if valid or known:
                return valid
        if one.kind is Kind.PARAMETER:
            return self._stands_for(other, one)[0]
        if _is_wild(one) or _is_wild(other):
            return True
        if one.kind is Kind.NULL:
            return _is_nullable(other)
        if other.kind is Kind.NULL:
            return _is_nullable(one)
        if one.kind is Kind.TYPE:
            return other.kind is Kind.TYPE
        return (
            one.kind == other.kind
            and one.name == other.name
            and len(one.parameters) == len(other.parameters)
            and all(map(self._is_assignable, one.parameters, other.parameters))
        )

    def _stands_for(self, found: Type, parameter: Type) -> tuple[bool, bool]:
        """Say whether a parameter may stand for a type, and whether it stood before."""
        if found == parameter:
            return True, True
        known = self._found.get(parameter)
        if known is None:
            if self._is_free_of(parameter, found):
                self._found[parameter] = found
                return True, False
            return False, False
        if found == known:
            return True, True
        if self._is_assignable(found, known):
            general = most_general(found, known)
            if self._is_free_of(parameter, general):
                self._found[parameter] = general
            return True, True
        return False, True

    def _is_free_of(self, parameter: Type, within: Type) -> bool:
        if parameter == within:
            return False
        if within.kind is Kind.PARAMETER:
            found = self._found.get(within)
            return found is None or self._is_free_of(parameter, found)
        return all(self._is_free_of(parameter, each) for each in within.parameters)


def _is_nullable(found: Type) -> bool:
    return found.kind in _NULLABLE or found.kind in (Kind.NULL, Kind.DYN)
