"""Validates trees whose types match.

Mirrors ``cel/validator.go`` and the validator of ``ext/formatting.go`` (cel-go
v0.26.0), as Kubernetes enables them: all members of a list or map have one type, and
literal durations, timestamps, patterns and format strings are valid.
"""

from collections.abc import Iterator, Set
from typing import Final

from kubernetes_cel.ast import (
    Call,
    Expression,
    ListLiteral,
    Literal,
    MapLiteral,
    children_of,
    walk,
)
from kubernetes_cel.checker import Checked
from kubernetes_cel.dispatch import dispatcher
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.formatting import UNEXPECTED_END, Clause, clauses_of
from kubernetes_cel.libraries.regexes import prepared
from kubernetes_cel.problems import Problems
from kubernetes_cel.types import Kind, Type
from kubernetes_cel.values import Value

__all__ = ["validate"]

_STRINGS: Final = frozenset(
    {
        Kind.LIST,
        Kind.MAP,
        Kind.INT,
        Kind.UINT,
        Kind.DOUBLE,
        Kind.BOOL,
        Kind.STRING,
        Kind.TIMESTAMP,
        Kind.BYTES,
        Kind.DURATION,
        Kind.TYPE,
        Kind.NULL,
    }
)
_INTEGERS: Final = frozenset({Kind.INT, Kind.UINT})
_DOUBLES: Final = frozenset({Kind.DOUBLE, Kind.STRING})
_BITS: Final = _INTEGERS | {Kind.BOOL}
_HEXADECIMALS: Final = _INTEGERS | {Kind.STRING, Kind.BYTES}
_ACCEPTED: Final = {
    "s": _STRINGS,
    "d": _INTEGERS,
    "f": _DOUBLES,
    "e": _DOUBLES,
    "b": _BITS,
    "x": _HEXADECIMALS,
    "X": _HEXADECIMALS,
    "o": _INTEGERS,
}
_HEXADECIMAL: Final = "only integers, byte buffers, and strings can be formatted as hex"
_EXPECTED: Final = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, "
    "maps, lists, types, durations, and timestamps",
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": _HEXADECIMAL,
    "X": _HEXADECIMAL,
    "o": "octal clause can only be used on integers",
}
_TIMES: Final = frozenset({"duration", "timestamp"})


def validate(checked: Checked) -> None:
    """Validate the literals of a tree.

    Raises:
        CelCompilationError: Some of them are invalid.
    """
    validation = _Validation(checked)
    # Members first: with their types mixed, the other checks could report the same
    # place again.
    validation.members(checked.root)
    for node in walk(checked.root):
        if isinstance(node, Call):
            validation.call(node)
    validation.problems.raise_errors()


class _Validation:
    """Validates one tree."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self.problems = Problems(checked.text)

    # Members.

    def members(self, node: Expression) -> None:
        """Validate the lists and maps outside calls of ``format``."""
        pending = [node]
        while pending:
            current = pending.pop()
            if isinstance(current, Call) and current.function == "format":
                # Arguments of ``format`` may be of different types, with everything
                # inside them.
                continue
            if isinstance(current, ListLiteral):
                # Upstream reports one element of a list, but all entries of a map.
                for element, problem in self._others(
                    current.elements, current.optional
                ):
                    self.problems.add(element.offset, problem)
                    break
            elif isinstance(current, MapLiteral):
                self._entries(current)
            pending += children_of(current)

    def _entries(self, node: MapLiteral) -> None:
        keys = [each.key for each in node.entries]
        values = [each.value for each in node.entries]
        optional = {index for index, each in enumerate(node.entries) if each.optional}
        for member, problem in (
            *self._others(keys, frozenset()),
            *self._others(values, optional),
        ):
            self.problems.add(member.offset, problem)

    def _others(
        self, nodes: list[Expression], optional: Set[int]
    ) -> Iterator[tuple[Expression, str]]:
        """Yield the nodes whose type is not that of the first, with the problem."""
        first: Type | None = None
        for index, node in enumerate(nodes):
            type_ = self._checked.type_of(node)
            if index in optional:
                type_ = type_.parameters[0] if type_.parameters else type_
            if first is None:
                first = type_
            elif first != type_:
                yield node, f"expected type '{first.shown}' but found '{type_.shown}'"

    # Calls.

    def call(self, node: Call) -> None:
        """Validate the literal arguments of a call."""
        first = node.arguments[0] if node.arguments else None
        if isinstance(first, Literal) and not self._is_valid(node, first.value):
            problem = f"invalid {node.function} argument"
            self.problems.add(first.offset, problem)
        if (
            node.function == "format"
            and isinstance(node.target, Literal)
            and isinstance(node.target.value, str)
            and isinstance(first, ListLiteral)
        ):
            self._format(node, node.target.value, first.elements)

    def _is_valid(self, node: Call, value: Value) -> bool:
        """Return whether a call accepts its first argument, a literal."""
        try:
            if node.function == "matches" and isinstance(value, str):
                prepared(value)
            elif node.function in _TIMES:
                # Evaluated for real: what the function rejects at run time is rejected
                # here.
                overload = dispatcher(self._checked.overloads[node.number], 1)((value,))
                overload.implementation(value)
        except CelEvaluationError:
            return False
        return True

    def _format(self, node: Call, text: str, values: list[Expression]) -> None:
        """Add the first problem of a format string and its arguments."""
        count = 0
        try:
            for part in clauses_of(text):
                if isinstance(part, str):
                    continue
                if count >= len(values):
                    # Too few arguments, as the error after the loop reports.
                    break
                if not self._accepts(part, values[count]):
                    return
                count += 1
            else:
                if len(values) > count:
                    self.problems.add(
                        node.offset,
                        "too many arguments supplied to string.format "
                        f"(expected {count}, got {len(values)})",
                    )
                return
        except CelEvaluationError as error:
            if count < len(values) or str(error) == UNEXPECTED_END:
                self.problems.add(node.offset, str(error))
                return
        self.problems.add(node.offset, f"index {count} out of range")

    def _accepts(self, clause: Clause, node: Expression) -> bool:
        """Return whether a clause accepts an argument; if not, add the problem."""
        type_ = self._checked.type_of(node)
        # A dynamic argument is checked when it has a value.
        if type_.kind is not Kind.DYN and type_.kind not in _ACCEPTED[clause.letter]:
            self.problems.add(
                node.offset,
                f"error during formatting: {_EXPECTED[clause.letter]}, "
                f"was given {type_.name}",
            )
            return False
        if clause.letter == "s" and isinstance(node, (ListLiteral, MapLiteral)):
            return all(self._accepts(clause, each) for each in children_of(node))
        return True
