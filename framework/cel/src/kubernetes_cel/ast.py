"""Expressions as trees.

Every node has a unique number in its tree, and the offset of its token. The checker and
the estimates of costs keep their results by this number. Macros are expanded to
comprehensions, conditions and tests of presence.

Mirrors ``common/ast/expr.go`` (cel-go v0.26.0).
"""

from collections.abc import Iterator

import attrs

__all__ = [
    "Call",
    "Comprehension",
    "Entry",
    "Expression",
    "Field",
    "Identifier",
    "ListLiteral",
    "Literal",
    "LiteralValue",
    "MapLiteral",
    "Select",
    "StructLiteral",
    "UintLiteral",
    "children_of",
    "height_of",
    "qualified_name",
    "walk",
]


@attrs.frozen
class UintLiteral:
    """The value of a literal like ``7u``, which is not an ``int``."""

    value: int


LiteralValue = None | bool | int | UintLiteral | float | str | bytes


@attrs.define(eq=False)
class _Node:
    """The base of all nodes.

    Attributes:
        number: Its number in the tree.
        offset: The index of its token in the text.
    """

    number: int
    offset: int


@attrs.define(eq=False)
class Literal(_Node):
    """A literal value."""

    value: LiteralValue


@attrs.define(eq=False)
class Identifier(_Node):
    """A name."""

    name: str


@attrs.define(eq=False)
class Select(_Node):
    """``operand.field``, or `test_only`, ``has(operand.field)``."""

    operand: "Expression"
    field: str
    test_only: bool = False


@attrs.define(eq=False)
class Call(_Node):
    """``function(arguments)``, or with a target, ``target.function(arguments)``.

    Operators are calls of functions with names such as ``_+_``.
    """

    function: str
    target: "Expression | None"
    arguments: list["Expression"]


@attrs.define(eq=False)
class ListLiteral(_Node):
    """``[elements]``; the elements with an index of `optional` are ``?element``."""

    elements: list["Expression"]
    optional: frozenset[int] = frozenset()


@attrs.define(eq=False)
class Entry(_Node):
    """``key: value``, or ``?key: value``."""

    key: "Expression"
    value: "Expression"
    optional: bool


@attrs.define(eq=False)
class MapLiteral(_Node):
    """``{entries}``."""

    entries: list[Entry]


@attrs.define(eq=False)
class Field(_Node):
    """``name: value`` of a message, or ``?name: value``."""

    name: str
    value: "Expression"
    optional: bool


@attrs.define(eq=False)
class StructLiteral(_Node):
    """``Type{fields}``."""

    type_name: str
    fields: list[Field]


@attrs.define(eq=False)
class Comprehension(_Node):
    """A loop over a list or a map that updates an accumulator.

    Attributes:
        range: The list or map.
        variable: The name of the element or key; with `second`, of the index or key.
        second: The name of the element or value if there are two variables, or None.
        accumulator: The name of the accumulator.
        start: The first value of the accumulator.
        condition: Whether the loop continues.
        step: The next value of the accumulator.
        result: The value of the comprehension.
    """

    range: "Expression"
    variable: str
    second: str | None
    accumulator: str
    start: "Expression"
    condition: "Expression"
    step: "Expression"
    result: "Expression"

    @property
    def is_binding(self) -> bool:
        """Whether it has no loop and only binds a variable, as ``cel.bind`` does."""
        return (
            # The shape that the macro ``cel.bind`` expands to: an empty list, and a
            # condition that is false.
            isinstance(self.range, ListLiteral)
            and not self.range.elements
            and isinstance(self.condition, Literal)
            and self.condition.value is False
        )


Expression = (
    Literal
    | Identifier
    | Select
    | Call
    | ListLiteral
    | MapLiteral
    | StructLiteral
    | Comprehension
)


def children_of(node: Expression) -> Iterator[Expression]:
    """Yield the direct children of a node."""
    match node:
        case Select():
            yield node.operand
        case Call():
            if node.target is not None:
                yield node.target
            yield from node.arguments
        case ListLiteral():
            yield from node.elements
        case MapLiteral():
            for entry in node.entries:
                yield entry.key
                yield entry.value
        case StructLiteral():
            for field in node.fields:
                yield field.value
        case Comprehension():
            yield node.range
            yield node.start
            yield node.condition
            yield node.step
            yield node.result
        case _:
            pass


def walk(node: Expression) -> Iterator[Expression]:
    """Yield a node and all its descendants."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += children_of(current)


def height_of(node: Expression) -> int:
    """Return the number of levels of a tree."""
    height, level = 0, [node]
    while level:
        height += 1
        level = [child for each in level for child in children_of(each)]
    return height


def qualified_name(node: Expression) -> str | None:
    """Return ``a.b.c`` if a node is such a chain of names, or None."""
    match node:
        case Identifier():
            return node.name
        case Select(test_only=False):
            before = qualified_name(node.operand)
            return None if before is None else f"{before}.{node.field}"
        case _:
            return None
