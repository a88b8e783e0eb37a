"""Expressions of templates: parsed actions, ready for evaluation."""

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._studies.perf.gotext.functions import Function
from quaymaster._studies.perf.gotext.values import Value, is_true, kind_of

__all__ = [
    "DOT",
    "ROOT",
    "Expression",
    "Scope",
    "call",
    "constant",
    "first_that",
    "member",
]


@attrs.define
class Scope:
    """The values of the names in an action.

    Attributes:
        root: The template's fields, the value of ``$``.
        dot: The value of ``.``.
        variables: The variables by name, those of the innermost block first.
    """

    root: Mapping[str, Value]
    dot: Value
    variables: ChainMap[str, Value] = attrs.field(factory=ChainMap)

    def inner(self, dot: Value) -> "Scope":
        """Return the scope of a block inside this one.

        Args:
            dot: The value of ``.`` there.
        """
        return Scope(self.root, dot, self.variables.new_child())

    def assign(self, name: str, value: Value) -> None:
        """Change a variable in the block that has declared it."""
        for block in self.variables.maps:
            if name in block:
                block[name] = value
                return


@attrs.frozen(eq=False)
class Expression:
    """An expression.

    Attributes:
        evaluate: Computes its value, or raises a ValueError or an ArithmeticError.
        uses_index: Whether the value may differ from object to object.
        is_number: Whether the value is always a number.
    """

    evaluate: Callable[[Scope], Value]
    uses_index: bool = False
    is_number: bool = False


DOT: Final = Expression(lambda scope: scope.dot)
"""The scope of ``.`` inside of a block, which has more fields."""

ROOT: Final = Expression(lambda scope: scope.root, uses_index=True)
"""All fields of the template."""


def constant(value: Value) -> Expression:
    """Make the expression of a literal."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return Expression(lambda _: value, is_number=is_number)


def member(whole: Expression, names: Sequence[str]) -> Expression:
    """Make the expression of a member of a map, such as ``$.a.b``."""

    def evaluate(scope: Scope) -> Value:
        value = whole.evaluate(scope)
        for name in names:
            if value is None:
                return None
            if not isinstance(value, Mapping):
                raise ValueError(f"{kind_of(value)} has no field {name!r}")
            value = value.get(name)
        return value

    return attrs.evolve(whole, evaluate=evaluate, is_number=False)


def call(function: Function, arguments: Sequence[Expression]) -> Expression:
    """Make the expression of a function's result."""
    computations = [argument.evaluate for argument in arguments]
    compute = function.call

    def evaluate(scope: Scope) -> Value:
        return compute([computation(scope) for computation in computations])

    return Expression(
        evaluate,
        uses_index=any(argument.uses_index for argument in arguments),
        is_number=function.gives_number,
    )


def first_that(truth: bool, arguments: Sequence[Expression]) -> Expression:
    """Make the expression of ``or`` (truth: true) or ``and`` (truth: false).

    Its value is the first argument with this truth, or else the last one. Later
    arguments are not evaluated.
    """

    def evaluate(scope: Scope) -> Value:
        value: Value = None
        for argument in arguments:
            value = argument.evaluate(scope)
            if is_true(value) == truth:
                break
        return value

    return Expression(
        evaluate,
        uses_index=any(argument.uses_index for argument in arguments),
        is_number=all(argument.is_number for argument in arguments),
    )
