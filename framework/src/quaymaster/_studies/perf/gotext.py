"""The part of Go's text/template that scheduler_perf's templates use.

Literal text with actions in it: ``{{.Index}}``, ``{{ .Count }}``, calls of arithmetic
functions such as ``{{ Mod .Index 12 }}``, nested in parentheses, and comments. Mirrors
``getTemplateFuncs`` (Kubernetes v1.36, ``test/integration/scheduler_perf/
operations.go``).
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias

from quaymaster._base.suggestions import did_you_mean

__all__ = ["GoTemplate", "GoTemplateError"]

Value: TypeAlias = int | float | str
_Expression: TypeAlias = Callable[[Mapping[str, int]], Value]

_ACTION: Final = re.compile(r"\{\{(-\s)?(.*?)(\s-)?\}\}", re.DOTALL)
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<field>\.\w+)|(?P<name>[A-Za-z]\w*)|(?P<number>[-+]?[\d.]+(?:[eE][-+]?\d+)?)
    |(?P<text>"(?:[^"\\]|\\.)*")|(?P<mark>[()|]))""",
    re.VERBOSE,
)
_FIELDS: Final = ("Index", "Count")
_LARGEST_PLAIN: Final = 1e21
_SMALLEST_PLAIN: Final = 1e-4


class GoTemplateError(ValueError):
    """A template cannot be read, or an action cannot be evaluated.

    Attributes:
        line: Where it is, from 1.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


class _Action(NamedTuple):
    line: int
    source: str
    evaluate: _Expression
    uses_index: bool


class GoTemplate:
    """A text with actions.

    Args:
        text: The template.

    Attributes:
        places: How many actions there are whose text differs from index to index.

    Raises:
        GoTemplateError: The text is no template that is understood here.
    """

    def __init__(self, text: str) -> None:
        self._parts: list[str | _Action] = list(self._parse(text))
        self._varying = [
            part
            for part in self._parts
            if isinstance(part, _Action) and part.uses_index
        ]
        self.places = len(self._varying)

    def render(self, index: int, count: int) -> str:
        """The text of one of ``count`` objects.

        Raises:
            GoTemplateError: An action fails.
        """
        return self.fill(self.values(index, count), count)

    def values(self, index: int, count: int) -> list[str]:
        """The texts of the actions that differ by index, for one of ``count`` objects.

        Raises:
            GoTemplateError: An action fails.
        """
        if not self._varying:
            return []
        fields = {"Index": index, "Count": count}
        return [_evaluate(action, fields) for action in self._varying]

    def fill(self, values: Sequence[str], count: int) -> str:
        """The text with these values in the places that differ by index.

        Raises:
            GoTemplateError: An action fails.
        """
        fields = {"Index": 0, "Count": count}
        remaining = iter(values)
        return "".join(
            part
            if isinstance(part, str)
            else next(remaining)
            if part.uses_index
            else _evaluate(part, fields)
            for part in self._parts
        )

    def _parse(self, text: str) -> Iterator[str | _Action]:
        done, trims_next = 0, None
        for match in _ACTION.finditer(text):
            trims_last, body, trims_after = match.groups()
            yield _trimmed(text[done : match.start()], trims_next, trims_last)
            line = text.count("\n", 0, match.start()) + 1
            body = body.strip()
            if not (body.startswith("/*") and body.endswith("*/")):
                yield _action(body, line)
            done, trims_next = match.end(), trims_after
        rest = text[done:]
        if "{{" in rest:
            line = text.count("\n", 0, done + rest.index("{{")) + 1
            raise GoTemplateError(line, "expected }} after {{")
        yield _trimmed(rest, trims_next, None)


class _Reader:
    """Reads the tokens of one action."""

    def __init__(self, tokens: Sequence[tuple[str, str]], line: int) -> None:
        self._tokens = list(tokens)
        self._line = line
        self.uses_index = False

    def pipeline(self) -> _Expression:
        expression = self._command(None)
        while self._tokens:
            _, mark = self._tokens.pop(0)
            if mark != "|":
                raise GoTemplateError(self._line, f"unexpected {mark!r}")
            expression = self._command(expression)
        return expression

    def _command(self, piped: _Expression | None) -> _Expression:
        kind, text = self._next("a value or a function")
        if kind != "name":
            if piped is not None:
                raise GoTemplateError(self._line, f"cannot pipe into {text}")
            return self._operand(kind, text)
        function = _FUNCTIONS.get(text)
        if function is None:
            hint = did_you_mean(text, _FUNCTIONS)
            known = ", ".join(_FUNCTIONS)
            message = f"unknown function {text!r} (known: {known}){hint}"
            raise GoTemplateError(self._line, message)
        arguments = []
        while self._tokens and self._tokens[0][1] not in ("|", ")"):
            arguments.append(self._operand(*self._tokens.pop(0)))
        if piped is not None:
            arguments.append(piped)
        return self._call(text, function, arguments)

    def _call(
        self, name: str, function: "_Function", arguments: Sequence[_Expression]
    ) -> _Expression:
        if function.arity is not None and len(arguments) != function.arity:
            message = (
                f"{name}: expected {function.arity} arguments, got {len(arguments)}"
            )
            raise GoTemplateError(self._line, message)
        return lambda fields: function.call([_number(a(fields)) for a in arguments])

    def _operand(self, kind: str, text: str) -> _Expression:
        if kind == "field":
            name = text[1:]
            if name not in _FIELDS:
                known = ", ".join(f".{field}" for field in _FIELDS)
                message = f"unknown field {text!r} (known: {known})"
                raise GoTemplateError(self._line, message)
            self.uses_index = self.uses_index or name == "Index"
            return lambda fields: fields[name]
        if text == "(":
            expression = self._command(None)
            while self._next(")")[1] == "|":
                expression = self._command(expression)
            return expression
        value = self._literal(kind, text)
        return lambda _: value

    def _literal(self, kind: str, text: str) -> Value:
        if kind == "text":
            return text[1:-1].encode().decode("unicode_escape")
        if kind == "number":
            try:
                return int(text)
            except ValueError:
                return float(text)
        raise GoTemplateError(self._line, f"unexpected {text!r}")

    def _next(self, expected: str) -> tuple[str, str]:
        if not self._tokens:
            raise GoTemplateError(self._line, f"expected {expected} before }}}}")
        return self._tokens.pop(0)


class _Function(NamedTuple):
    call: Callable[[Sequence[float]], Value]
    arity: int | None = 2


_FUNCTIONS: Final[Mapping[str, _Function]] = {
    "AddFloat": _Function(sum, None),
    "AddInt": _Function(lambda numbers: int(sum(numbers)), None),
    "DivideFloat": _Function(lambda numbers: numbers[0] / numbers[1]),
    "DivideInt": _Function(lambda numbers: int(numbers[0] / numbers[1])),
    # Go's remainder has the sign of the dividend.
    "Mod": _Function(lambda numbers: int(math.fmod(int(numbers[0]), int(numbers[1])))),
    "MultiplyFloat": _Function(math.prod, None),
    "MultiplyInt": _Function(lambda numbers: int(math.prod(numbers)), None),
    "SubtractFloat": _Function(lambda numbers: numbers[0] - numbers[1]),
    "SubtractInt": _Function(lambda numbers: int(numbers[0] - numbers[1])),
}


def _action(body: str, line: int) -> _Action:
    reader = _Reader(list(_tokens(body, line)), line)
    expression = reader.pipeline()
    return _Action(line, body, expression, reader.uses_index)


def _trimmed(text: str, left: str | None, right: str | None) -> str:
    """A text without the white space that trim markers of actions remove."""
    text = text.lstrip() if left else text
    return text.rstrip() if right else text


def _tokens(body: str, line: int) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(body):
        match = _TOKEN.match(body, place)
        if match is None or match.lastgroup is None:
            raise GoTemplateError(line, f"cannot read {body[place:].strip()!r}")
        yield match.lastgroup, match[match.lastgroup]
        place = match.end()


def _number(value: Value) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"expected a number, got {value!r}") from None


def _evaluate(action: _Action, fields: Mapping[str, int]) -> str:
    try:
        return _text(action.evaluate(fields))
    except (ArithmeticError, ValueError) as error:
        message = f"{{{{ {action.source} }}}}: {error}"
        raise GoTemplateError(action.line, message) from error


def _text(value: Value) -> str:
    """A value as Go prints it."""
    if not isinstance(value, float):
        return str(value)
    if value and not _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        return repr(value)
    plain = format(Decimal(repr(value)), "f")
    return plain.removesuffix(".0")
