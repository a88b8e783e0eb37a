"""The parts of a parsed template."""

from collections.abc import Sequence
from typing import TypeAlias

import attrs

from quaymaster._studies.perf.gotext.expressions import Expression

__all__ = ["Branch", "Jump", "Loop", "Node", "Output", "Variable"]


@attrs.frozen(kw_only=True, eq=False)
class Output:
    """An action that prints a value.

    Attributes:
        line: Where it begins, from 1.
        source: As it is written.
        expression: The value.
    """

    line: int
    source: str
    expression: Expression


@attrs.frozen(kw_only=True, eq=False)
class Variable:
    """An action that declares a variable, or gives it another value.

    Attributes:
        line: Where it begins, from 1.
        source: As it is written.
        name: The variable.
        expression: Its value.
        is_new: Whether it is declared.
    """

    line: int
    source: str
    name: str
    expression: Expression
    is_new: bool


@attrs.frozen(kw_only=True, eq=False)
class Branch:
    """An ``if`` or a ``with``.

    Attributes:
        line: Where it begins, from 1.
        source: As it is written.
        expression: The condition.
        name: The variable that gets the condition's value, or empty.
        sets_dot: Whether it is a ``with``.
        then: What is printed if the condition is true.
        otherwise: What is printed if it is not.
    """

    line: int
    source: str
    expression: Expression
    name: str
    sets_dot: bool
    then: "Sequence[Node]"
    otherwise: "Sequence[Node]"


@attrs.frozen(kw_only=True, eq=False)
class Loop:
    """A ``range``.

    Attributes:
        line: Where it begins, from 1.
        source: As it is written.
        expression: What it goes through.
        names: The variables of an item: none, the item, or its key and the item.
        body: What is printed for each item.
        otherwise: What is printed if there is no item.
    """

    line: int
    source: str
    expression: Expression
    names: tuple[str, ...]
    body: "Sequence[Node]"
    otherwise: "Sequence[Node]"


@attrs.frozen
class Jump:
    """A ``break`` or a ``continue``.

    Attributes:
        ends_loop: Whether it is a ``break``.
    """

    ends_loop: bool


Node: TypeAlias = str | Output | Variable | Branch | Loop | Jump
