"""Fills templates in: for one object, or for many of which only numbers differ.

Literal text with actions in it, as Go's text/template has them: ``{{.Index}}``,
``{{ Mod .Index 12 }}``, variables, ``if``, ``with``, ``range`` and comments. The
template's fields are ``.Index`` and ``.Count``, and the parameters of its operation.
"""

from collections.abc import Iterator, Mapping, Sequence

import attrs

from quaymaster._studies.perf.gotext.errors import GoTemplateError
from quaymaster._studies.perf.gotext.expressions import Expression, Scope
from quaymaster._studies.perf.gotext.nodes import (
    Branch,
    Jump,
    Loop,
    Node,
    Output,
    Variable,
)
from quaymaster._studies.perf.gotext.operands import INDEX
from quaymaster._studies.perf.gotext.parser import Parser
from quaymaster._studies.perf.gotext.values import (
    Value,
    as_json_value,
    is_true,
    kind_of,
    text_of,
)

__all__ = ["GoTemplate", "ObjectTexts"]


@attrs.frozen(eq=False)
class _Place:
    """An output that differs from object to object, and its scope."""

    output: Output
    scope: Scope

    def text(self) -> str:
        return _printed(self.output, self.scope)


class _JumpReached(Exception):
    """A ``break`` or a ``continue`` was reached."""

    def __init__(self, jump: Jump, parts: list["str | _Place"]) -> None:
        super().__init__()
        self.jump = jump
        self.parts = parts


class GoTemplate:
    """A text with actions.

    Args:
        text: The template.
        parameters: Its fields beside ``.Index`` and ``.Count``.

    Raises:
        GoTemplateError: The text is not a template that is understood here.
    """

    def __init__(
        self, text: str, parameters: Mapping[str, object] | None = None
    ) -> None:
        parsed = Parser(text)
        self._nodes = parsed.nodes
        self._is_regular = parsed.is_regular
        self._parameters = {
            name: as_json_value(value) for name, value in (parameters or {}).items()
        }

    def render(self, index: int, count: int) -> str:
        """Return the text of one of ``count`` objects.

        Raises:
            GoTemplateError: An action fails.
        """
        texts = self.texts(count)
        return texts.fill(texts.values(index))

    def texts(self, count: int) -> "ObjectTexts":
        """Return the maker of the texts of ``count`` objects.

        Raises:
            GoTemplateError: An action fails.
        """
        fields = {**self._parameters, INDEX: 0, "Count": count}
        return ObjectTexts(self._nodes, fields, is_regular=self._is_regular)


class ObjectTexts:
    """Makes the texts of objects that differ only by index.

    Args:
        nodes: The parts of the template.
        fields: The template's fields; the one of the index is changed.
        is_regular: Whether all texts differ only in some numbers.

    Attributes:
        places: How many parts there are that differ from object to object.
        is_regular: Whether all texts differ only in the numbers of these places.

    Raises:
        GoTemplateError: An action fails.
    """

    def __init__(
        self, nodes: Sequence[Node], fields: dict[str, Value], *, is_regular: bool
    ) -> None:
        self._nodes = nodes
        self._fields = fields
        self.is_regular = is_regular
        self._parts: list[str | _Place] = []
        if is_regular:
            self._parts = list(_merged(_parts(nodes, self._scope(), fills=False)))
        self._varying = [part for part in self._parts if isinstance(part, _Place)]
        self.places = len(self._varying) if is_regular else 1

    def values(self, index: int) -> list[str]:
        """Return the parts that differ, for one of the objects.

        Raises:
            GoTemplateError: An action fails.
        """
        self._fields[INDEX] = index
        if self.is_regular:
            return [place.text() for place in self._varying]
        parts = _parts(self._nodes, self._scope(), fills=True)
        return ["".join(part for part in parts if isinstance(part, str))]

    def fill(self, values: Sequence[str]) -> str:
        """Return the text with these parts in the places that differ."""
        if not self.is_regular:
            return "".join(values)
        remaining = iter(values)
        return "".join(
            part if isinstance(part, str) else next(remaining) for part in self._parts
        )

    def _scope(self) -> Scope:
        return Scope(self._fields, self._fields)


def _merged(parts: Sequence["str | _Place"]) -> Iterator["str | _Place"]:
    """Merge adjacent texts of the parts."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        yield text
        yield part
        text = ""
    yield text


def _parts(nodes: Sequence[Node], scope: Scope, *, fills: bool) -> list["str | _Place"]:
    """Return the output of some nodes.

    Args:
        nodes: The nodes.
        scope: Their scope.
        fills: Whether outputs that differ by index are printed, too.
    """
    parts: list[str | _Place] = []
    for node in nodes:
        try:
            parts += _parts_of(node, scope, fills=fills)
        except _JumpReached as reached:
            # What was printed before the jump is part of the output.
            raise _JumpReached(reached.jump, parts + reached.parts) from None
    return parts


def _parts_of(node: Node, scope: Scope, *, fills: bool) -> Sequence["str | _Place"]:
    match node:
        case str():
            return (node,)
        case Output(expression=Expression(uses_index=True)) if not fills:
            return (_Place(node, scope),)
        case Output():
            return (_printed(node, scope),)
        case Variable(name=name, is_new=is_new):
            value = _value(node, scope)
            if is_new:
                scope.variables[name] = value
            else:
                scope.assign(name, value)
            return ()
        case Branch():
            return _branch_parts(node, scope, fills=fills)
        case Loop():
            return _loop_parts(node, scope, fills=fills)
        case Jump():
            raise _JumpReached(node, [])


def _branch_parts(
    node: Branch, scope: Scope, *, fills: bool
) -> Sequence["str | _Place"]:
    value = _value(node, scope)
    is_taken = is_true(value)
    inner = scope.inner(value if is_taken and node.sets_dot else scope.dot)
    if node.name:
        inner.variables[node.name] = value
    return _parts(node.then if is_taken else node.otherwise, inner, fills=fills)


def _loop_parts(node: Loop, scope: Scope, *, fills: bool) -> Sequence["str | _Place"]:
    items = _items(node, _value(node, scope))
    parts: list[str | _Place] = []
    for key, item in items:
        inner = scope.inner(item)
        inner.variables.update(_named(node, key, item))
        try:
            parts += _parts(node.body, inner, fills=fills)
        except _JumpReached as reached:
            parts += reached.parts
            if reached.jump.ends_loop:
                break
    if items:
        return parts
    return _parts(node.otherwise, scope.inner(scope.dot), fills=fills)


def _named(node: Loop, key: Value, item: Value) -> Mapping[str, Value]:
    """Return the values of a loop's variables."""
    # A single variable gets the item, not the key.
    values = (key, item)[2 - len(node.names) :]
    return dict(zip(node.names, values, strict=True))


def _items(node: Loop, value: Value) -> Sequence[tuple[Value, Value]]:
    """Return the keys and items of a loop's value."""
    if value is None:
        return ()
    if isinstance(value, int) and not isinstance(value, bool):
        return [(number, number) for number in range(value)]
    if isinstance(value, Mapping):
        # ``text/template`` sorts the keys.
        return [(key, value[key]) for key in sorted(value)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(enumerate(value))
    message = f"{{{{ {node.source} }}}}: range cannot go through a {kind_of(value)}"
    raise GoTemplateError(node.line, message)


def _printed(output: Output, scope: Scope) -> str:
    value = _value(output, scope)
    if value is None:
        raise GoTemplateError(output.line, _missing(output, scope))
    return text_of(value)


def _missing(output: Output, scope: Scope) -> str:
    """Return the error of an output without a value, where Go prints <no value>."""
    source = output.source
    if source.startswith(".") and source[1:].isidentifier():
        names = ", ".join(f".{name}" for name in scope.root)
        return f"unknown field {source!r} (known: {names})"
    return f"{{{{ {source} }}}}: expected a value, got nil"


def _value(node: Output | Variable | Branch | Loop, scope: Scope) -> Value:
    try:
        return node.expression.evaluate(scope)
    except (ArithmeticError, ValueError) as error:
        message = f"{{{{ {node.source} }}}}: {error}"
        raise GoTemplateError(node.line, message) from error
