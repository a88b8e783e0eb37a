"""Makes nodes with unique numbers."""

from collections.abc import Iterable

import attrs

from kubernetes_cel.ast import (
    Call,
    Comprehension,
    Entry,
    Expression,
    Field,
    Identifier,
    ListLiteral,
    Literal,
    LiteralValue,
    MapLiteral,
    Select,
    StructLiteral,
)

__all__ = ["Nodes"]


@attrs.define
class Nodes:
    """Makes the nodes of one tree.

    Attributes:
        offset: The offset of the nodes that are made next.
    """

    offset: int = 0
    _count: int = 0

    def number(self) -> int:
        """Return the next number."""
        self._count += 1
        return self._count

    def at(self, offset: int) -> "Nodes":
        """Set the offset of the nodes that are made next; return this object."""
        self.offset = offset
        return self

    def literal(self, value: LiteralValue) -> Literal:
        """Make a literal."""
        return Literal(self.number(), self.offset, value)

    def identifier(self, name: str) -> Identifier:
        """Make an identifier."""
        return Identifier(self.number(), self.offset, name)

    def select(
        self, operand: Expression, field: str, *, test_only: bool = False
    ) -> Select:
        """Make the selection of a field, or the test of its presence."""
        return Select(self.number(), self.offset, operand, field, test_only)

    def call(self, function: str, *arguments: Expression) -> Call:
        """Make a call without a target."""
        return Call(self.number(), self.offset, function, None, list(arguments))

    def member_call(
        self, function: str, target: Expression, *arguments: Expression
    ) -> Call:
        """Make a call with a target."""
        return Call(self.number(), self.offset, function, target, list(arguments))

    def list_of(
        self, elements: Iterable[Expression] = (), optional: Iterable[int] = ()
    ) -> ListLiteral:
        """Make a list."""
        return ListLiteral(
            self.number(), self.offset, list(elements), frozenset(optional)
        )

    def entry(self, key: Expression, value: Expression, *, optional: bool) -> Entry:
        """Make an entry of a map."""
        return Entry(self.number(), self.offset, key, value, optional)

    def map_of(self, entries: Iterable[Entry] = ()) -> MapLiteral:
        """Make a map."""
        return MapLiteral(self.number(), self.offset, list(entries))

    def field(self, name: str, value: Expression, *, optional: bool) -> Field:
        """Make a field of a message."""
        return Field(self.number(), self.offset, name, value, optional)

    def struct(self, type_name: str, fields: Iterable[Field]) -> StructLiteral:
        """Make a message."""
        return StructLiteral(self.number(), self.offset, type_name, list(fields))

    def loop(
        self,
        over: Expression,
        variables: tuple[str] | tuple[str, str],
        accumulator: str,
        start: Expression,
        *,
        condition: Expression,
        step: Expression,
        result: Expression,
    ) -> Comprehension:
        """Make a comprehension."""
        return Comprehension(
            self.number(),
            self.offset,
            over,
            variables[0],
            variables[1] if len(variables) == 2 else None,
            accumulator,
            start,
            condition,
            step,
            result,
        )

    def copy(self, node: Expression) -> Expression:
        """Copy a node and its descendants, with new numbers."""
        match node:
            case Select():
                return attrs.evolve(
                    node, number=self.number(), operand=self.copy(node.operand)
                )
            case Call():
                return attrs.evolve(
                    node,
                    number=self.number(),
                    target=None if node.target is None else self.copy(node.target),
                    arguments=[self.copy(each) for each in node.arguments],
                )
            case ListLiteral():
                return attrs.evolve(
                    node,
                    number=self.number(),
                    elements=[self.copy(each) for each in node.elements],
                )
            case MapLiteral():
                entries = [
                    attrs.evolve(
                        each,
                        number=self.number(),
                        key=self.copy(each.key),
                        value=self.copy(each.value),
                    )
                    for each in node.entries
                ]
                return attrs.evolve(node, number=self.number(), entries=entries)
            case StructLiteral():
                fields = [
                    attrs.evolve(
                        each, number=self.number(), value=self.copy(each.value)
                    )
                    for each in node.fields
                ]
                return attrs.evolve(node, number=self.number(), fields=fields)
            case Comprehension():
                return attrs.evolve(
                    node,
                    number=self.number(),
                    range=self.copy(node.range),
                    start=self.copy(node.start),
                    condition=self.copy(node.condition),
                    step=self.copy(node.step),
                    result=self.copy(node.result),
                )
            case _:
                return attrs.evolve(node, number=self.number())
