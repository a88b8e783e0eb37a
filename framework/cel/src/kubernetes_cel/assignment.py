"""Which types are assignable to which, and what type parameters become.

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


def unwrapped(type_: Type) -> tuple[Type, bool]:
    """Return the type without ``optional``, and whether it was optional."""
    if type_.is_optional:
        return type_.parameters[0], True
    return type_, False


def _is_wild(type_: Type) -> bool:
    return type_.is_dynamic or type_.kind is Kind.ERROR


def _is_equal_or_less_specific(left: Type, right: Type) -> bool:
    if left.is_dynamic or left.kind is Kind.PARAMETER:
        return True
    if right.is_dynamic or right.kind is Kind.PARAMETER or left.kind != right.kind:
        return False
    if left.kind in _WITH_PARAMETERS:
        return (
            left.name == right.name
            and len(left.parameters) == len(right.parameters)
            and all(map(_is_equal_or_less_specific, left.parameters, right.parameters))
        )
    # All types of types are alike, as in ``isEqualOrLessSpecific``.
    return left.kind is Kind.TYPE or left == right


def most_general(left: Type, right: Type) -> Type:
    """Return the more general of two types that are assignable."""
    return left if _is_equal_or_less_specific(left, right) else right


class Substitutions:
    """The types that the type parameters of an expression are bound to."""

    def __init__(self) -> None:
        self._bindings: dict[Type, Type] = {}

    def assign(self, left: Sequence[Type], right: Sequence[Type]) -> bool:
        """Return whether all pairs of types are assignable.

        If they are, the parameters in them are bound; if not, nothing changes.
        """
        if len(left) != len(right):
            return False
        # A copy, since a failed attempt may have bound some parameters of earlier
        # arguments.
        before = dict(self._bindings)
        if all(map(self._is_assignable, left, right)):
            return True
        self._bindings = before
        return False

    def bind(self, parameter: Type, to: Type) -> None:
        """Bind a parameter to a type."""
        self._bindings[parameter] = to

    def applied(self, to: Type, *, to_dyn: bool = False) -> Type:
        """Return a type with its parameters replaced.

        Args:
            to: The type.
            to_dyn: Whether unbound parameters become ``dyn``.
        """
        bound = self._bindings.get(to)
        # Bindings are followed to their end: a parameter may be bound to another one.
        if bound is not None:
            return self.applied(bound, to_dyn=to_dyn)
        if to.kind is Kind.PARAMETER:
            return DYN if to_dyn else to
        if not to.parameters:
            return to
        parameters = tuple(self.applied(each, to_dyn=to_dyn) for each in to.parameters)
        return Type(to.kind, to.name, parameters)

    def _is_assignable(self, left: Type, right: Type) -> bool:
        if right.kind is Kind.PARAMETER:
            is_valid, was_bound = self._bound(left, right)
            # If the right side was bound to something else, the pair is wrong for good;
            # if it was free, the left side may still bind.
            if is_valid or was_bound:
                return is_valid
        if left.kind is Kind.PARAMETER:
            return self._bound(right, left)[0]
        if _is_wild(left) or _is_wild(right):
            return True
        if left.kind is Kind.NULL:
            return _is_nullable(right)
        if right.kind is Kind.NULL:
            return _is_nullable(left)
        # ``type(int)`` and ``type(string)`` are assignable to each other: only values
        # differ.
        if left.kind is Kind.TYPE:
            return right.kind is Kind.TYPE
        return (
            left.kind == right.kind
            and left.name == right.name
            and len(left.parameters) == len(right.parameters)
            and all(map(self._is_assignable, left.parameters, right.parameters))
        )

    def _bound(self, candidate: Type, parameter: Type) -> tuple[bool, bool]:
        """Bind a parameter if possible; return whether it is, and whether it was."""
        if candidate == parameter:
            return True, True
        bound = self._bindings.get(parameter)
        if bound is None:
            # The "occurs check": a parameter that contained itself would make an
            # endless type.
            if self._is_free_of(parameter, candidate):
                self._bindings[parameter] = candidate
                return True, False
            return False, False
        if candidate == bound:
            return True, True
        if self._is_assignable(candidate, bound):
            # The more general type is kept, as in ``isValidTypeSubstitution``.
            general = most_general(candidate, bound)
            if self._is_free_of(parameter, general):
                self._bindings[parameter] = general
            return True, True
        return False, True

    def _is_free_of(self, parameter: Type, within: Type) -> bool:
        if parameter == within:
            return False
        if within.kind is Kind.PARAMETER:
            bound = self._bindings.get(within)
            return bound is None or self._is_free_of(parameter, bound)
        return all(self._is_free_of(parameter, each) for each in within.parameters)


def _is_nullable(type_: Type) -> bool:
    return type_.kind in _NULLABLE or type_.kind in (Kind.NULL, Kind.DYN)
