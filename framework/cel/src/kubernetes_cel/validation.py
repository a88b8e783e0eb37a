"""Validates trees whose types match.

Mirrors ``cel/validator.go`` and the validator of ``ext/formatting.go`` (cel-go
v0.26.0), as Kubernetes enables them: all members of a list or map have one type, and
literal durations, timestamps, patterns and format strings are valid.
"""

from typing import Final, NoReturn

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
from kubernetes_cel.errors import CelCompilationError, CelEvaluationError
from kubernetes_cel.lexer import place_of
from kubernetes_cel.libraries.formatting import Clause, clauses_of
from kubernetes_cel.libraries.regexes import prepared
from kubernetes_cel.types import Kind, Type

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


def validate(checked: Checked) -> None:
    """Validate the literals of a tree.

    Raises:
        CelCompilationError: One of them is invalid.
    """
    _Validation(checked).members(checked.root)
    for node in walk(checked.root):
        if isinstance(node, Call):
            _Validation(checked).call(node)


class _Validation:
    """Validates one tree."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked

    def _fail(self, node: Expression, problem: str) -> NoReturn:
        raise CelCompilationError(problem, *place_of(self._checked.text, node.offset))

    # Members.

    def members(self, node: Expression) -> None:
        """Validate the lists and maps outside calls of ``format``."""
        pending = [node]
        while pending:
            current = pending.pop()
            if isinstance(current, Call) and current.function == "format":
                continue
            if isinstance(current, ListLiteral):
                self._same(current.elements, current.optional)
            elif isinstance(current, MapLiteral):
                self._same([each.key for each in current.entries], frozenset())
                self._same(
                    [each.value for each in current.entries],
                    frozenset(
                        index
                        for index, each in enumerate(current.entries)
                        if each.optional
                    ),
                )
            pending += children_of(current)

    def _same(self, nodes: list[Expression], optional: frozenset[int]) -> None:
        first: Type | None = None
        for index, node in enumerate(nodes):
            type_ = self._checked.type_of(node)
            if index in optional:
                type_ = type_.parameters[0] if type_.parameters else type_
            if first is None:
                first = type_
            elif first != type_:
                self._fail(node, f"expected type '{first}' but found '{type_}'")

    # Calls.

    def call(self, node: Call) -> None:
        """Validate the literal arguments of a call."""
        first = node.arguments[0] if node.arguments else None
        if (
            node.function == "matches"
            and isinstance(first, Literal)
            and isinstance(first.value, str)
        ):
            try:
                prepared(first.value)
            except CelEvaluationError as error:
                self._fail(first, f"invalid matches argument: {error}")
        if (
            node.function == "format"
            and isinstance(node.target, Literal)
            and isinstance(node.target.value, str)
            and isinstance(first, ListLiteral)
        ):
            self._format(node, node.target.value, first.elements)

    def _format(self, node: Call, text: str, values: list[Expression]) -> None:
        try:
            clauses = [each for each in clauses_of(text) if isinstance(each, Clause)]
        except CelEvaluationError as error:
            self._fail(node, str(error))
        for index, clause in enumerate(clauses):
            if index >= len(values):
                self._fail(node, f"index {index} out of range")
            self._written(values[index], clause)
        if len(values) > len(clauses):
            self._fail(
                node,
                "too many arguments supplied to string.format "
                f"(expected {len(clauses)}, got {len(values)})",
            )

    def _written(self, node: Expression, clause: Clause) -> None:
        type_ = self._checked.type_of(node)
        if type_.kind is not Kind.DYN and type_.kind not in _ACCEPTED[clause.letter]:
            self._fail(
                node,
                f"error during formatting: '%{clause.letter}' cannot be used on "
                f"{type_.name}",
            )
        if clause.letter == "s" and isinstance(node, (ListLiteral, MapLiteral)):
            for each in children_of(node):
                self._written(each, clause)
