"""Parses the expressions of actions."""

import ast
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._base.suggestions import did_you_mean
from quaymaster._studies.perf.gotext.errors import GoTemplateError
from quaymaster._studies.perf.gotext.expressions import (
    ROOT,
    Expression,
    call,
    constant,
    first_that,
    member,
)
from quaymaster._studies.perf.gotext.functions import FUNCTIONS
from quaymaster._studies.perf.gotext.lexer import Action, Token
from quaymaster._studies.perf.gotext.values import Value

__all__ = ["INDEX", "Names", "Pipeline"]

INDEX: Final = "Index"
_COUNT: Final = "Count"
_LITERALS: Final[Mapping[str, Value]] = {"true": True, "false": False, "nil": None}
_SHORT_CIRCUITS: Final[Mapping[str, bool]] = {"or": True, "and": False}
_KNOWN_FUNCTIONS: Final = sorted((*FUNCTIONS, *_SHORT_CIRCUITS))


@attrs.define
class Names:
    """The names in scope at an action, before evaluation.

    Attributes:
        variables: The variables that are declared there, with their values.
        dot: What ``.`` means; None: the template's fields.
    """

    variables: dict[str, Expression] = attrs.field(factory=dict)
    dot: Expression | None = None

    def inner(self, dot: Expression | None) -> "Names":
        """Return the names inside of a block."""
        return Names(dict(self.variables), dot)


class Pipeline:
    """Parses the expression of one action.

    Args:
        action: The action.
        tokens: Those of its tokens that are the expression.
        names: The names in scope.
    """

    def __init__(self, action: Action, tokens: Sequence[Token], names: Names) -> None:
        self._line = action.line
        self._tokens = list(tokens)
        self._names = names

    def parse(self) -> Expression:
        """Parse the expression.

        Raises:
            GoTemplateError: It is not one.
        """
        expression = self._pipeline()
        if self._tokens:
            raise self._error(f"unexpected {self._tokens[0].text!r}")
        return expression

    def _pipeline(self) -> Expression:
        expression = self._command(None)
        while self._tokens and self._tokens[0].text == "|":
            self._tokens.pop(0)
            expression = self._command(expression)
        return expression

    def _command(self, piped: Expression | None) -> Expression:
        token = self._next("a value or a function")
        if token.kind == "name" and token.text not in _LITERALS:
            arguments = list(self._arguments())
            # As in text/template, a piped value is the last argument.
            if piped is not None:
                arguments.append(piped)
            return self._call(token.text, arguments)
        if piped is not None:
            raise self._error(f"cannot pipe into {token.text}")
        if token.text == "nil":
            raise self._error("nil is not a value to print or to test")
        return self._operand(token)

    def _arguments(self) -> "list[Expression]":
        arguments = []
        while self._tokens and self._tokens[0].text not in ("|", ")"):
            arguments.append(self._operand(self._tokens.pop(0)))
        return arguments

    def _call(self, name: str, arguments: Sequence[Expression]) -> Expression:
        if name in _SHORT_CIRCUITS:
            self._check_number(name, arguments, 1, None)
            return first_that(_SHORT_CIRCUITS[name], arguments)
        function = FUNCTIONS.get(name)
        if function is None:
            hint = did_you_mean(name, _KNOWN_FUNCTIONS)
            names = ", ".join(_KNOWN_FUNCTIONS)
            raise self._error(f"unknown function {name!r} (known: {names}){hint}")
        self._check_number(name, arguments, function.least, function.most)
        return call(function, arguments)

    def _check_number(
        self, name: str, arguments: Sequence[object], least: int, most: int | None
    ) -> None:
        number = len(arguments)
        if number >= least and (most is None or number <= most):
            return
        expected = f"{least}" if least == most else f"at least {least}"
        plural = "" if expected.endswith("1") else "s"
        raise self._error(f"{name}: expected {expected} argument{plural}, got {number}")

    def _operand(self, token: Token) -> Expression:
        if token.kind == "field":
            return self._field(token.text[1:].split("."))
        if token.kind == "variable":
            return self._variable(token)
        if token.text == "(":
            expression = self._pipeline()
            if self._next(")").text != ")":
                raise self._error("expected )")
            following = self._tokens[0] if self._tokens else None
            if following and following.kind == "field" and following.is_attached:
                self._tokens.pop(0)
                return member(expression, following.text[1:].split("."))
            return expression
        if token.text == ".":
            return self._names.dot or ROOT
        return constant(self._literal(token))

    def _field(self, names: Sequence[str]) -> Expression:
        if self._names.dot is not None:
            return member(self._names.dot, names)
        return _field_of_root(names)

    def _variable(self, token: Token) -> Expression:
        name, *members = token.text[1:].split(".")
        # A lone `$` means the fields of the template.
        if not name:
            return _field_of_root(members) if members else ROOT
        if name not in self._names.variables:
            raise self._error(f"undefined variable '${name}'")
        value = self._names.variables[name]
        variable = attrs.evolve(value, evaluate=lambda scope: scope.variables[name])
        return member(variable, members) if members else variable

    def _literal(self, token: Token) -> Value:
        if token.kind == "name" and token.text in _LITERALS:
            return _LITERALS[token.text]
        try:
            if token.kind == "text":
                return _unquoted(token.text)
            if token.kind == "character":
                return ord(_unquoted(token.text))
            if token.kind == "number":
                return _number(token.text)
        except (ValueError, SyntaxError, TypeError) as error:
            raise self._error(f"cannot read {token.text!r}") from error
        raise self._error(f"unexpected {token.text!r}")

    def _next(self, expected: str) -> Token:
        if not self._tokens:
            raise self._error(f"expected {expected} before }}}}")
        return self._tokens.pop(0)

    def _error(self, message: str) -> GoTemplateError:
        return GoTemplateError(self._line, message)


def _field_of_root(names: Sequence[str]) -> Expression:
    """The expression of a field of the template, or of a member of one."""
    if len(names) > 1:
        return member(_field_of_root(names[:1]), names[1:])
    (name,) = names
    return Expression(
        lambda scope: scope.root.get(name),
        uses_index=name == INDEX,
        is_number=name in (INDEX, _COUNT),
    )


def _unquoted(text: str) -> str:
    if text.startswith("`"):
        return text[1:-1]
    value = ast.literal_eval(text)
    if not isinstance(value, str):
        raise ValueError(text)
    return value


def _number(text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        return float(text)
