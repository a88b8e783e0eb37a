"""Parses templates."""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from quaymaster._studies.perf.gotext.errors import GoTemplateError
from quaymaster._studies.perf.gotext.expressions import DOT, Expression
from quaymaster._studies.perf.gotext.lexer import Action, Token, split
from quaymaster._studies.perf.gotext.nodes import (
    Branch,
    Jump,
    Loop,
    Node,
    Output,
    Variable,
)
from quaymaster._studies.perf.gotext.operands import Names, Pipeline

__all__ = ["Parser"]

_BLOCKS: Final = ("if", "with", "range")
_JUMPS: Final = ("break", "continue")
_UNSUPPORTED: Final = ("block", "define", "template")
_MOST_NAMES: Final = 2


class Parser:
    """Parses one template.

    Args:
        text: The template.

    Attributes:
        nodes: Its parts.
        is_regular: Whether the texts of all objects differ only in some numbers.

    Raises:
        GoTemplateError: The text is not a template that is understood here.
    """

    def __init__(self, text: str) -> None:
        self._items: Iterator[str | Action] = split(text)
        self._loops = 0
        self.is_regular = True
        self.nodes, end = self._block(Names())
        if end is not None:
            raise GoTemplateError(end.line, f"unexpected {{{{{end.source}}}}}")

    def _block(self, names: Names) -> tuple[Sequence[Node], Action | None]:
        """Return the nodes up to the next ``else`` or ``end``, and that action."""
        nodes: list[Node] = []
        for item in self._items:
            if isinstance(item, str):
                nodes.append(item)
                continue
            keyword = _keyword(item)
            if keyword in ("else", "end"):
                return nodes, item
            nodes.append(self._node(item, keyword, names))
        return nodes, None

    def _node(self, action: Action, keyword: str, names: Names) -> Node:
        if keyword in _UNSUPPORTED:
            raise GoTemplateError(action.line, f"{keyword!r} is not supported")
        if keyword in _JUMPS:
            if not self._loops or len(action.tokens) > 1:
                raise GoTemplateError(action.line, f"unexpected {action.source!r}")
            self.is_regular = False
            return Jump(keyword == "break")
        if keyword == "range":
            return self._loop(action, names)
        if keyword in _BLOCKS:
            return self._branch(action, keyword, action.tokens[1:], names)
        declared, is_new, tokens = _declaration(action, action.tokens)
        expression = Pipeline(action, tokens, names).parse()
        if declared:
            return self._variable(action, declared, is_new, expression, names)
        if expression.uses_index and not expression.is_number:
            self.is_regular = False
        return Output(line=action.line, source=action.source, expression=expression)

    def _variable(
        self,
        action: Action,
        declared: Sequence[str],
        is_new: bool,
        expression: Expression,
        names: Names,
    ) -> Variable:
        if len(declared) > 1:
            raise GoTemplateError(action.line, "expected one variable")
        (name,) = declared
        if not is_new and name not in names.variables:
            raise GoTemplateError(action.line, f"undefined variable '${name}'")
        # A variable that depends on the index, or changes, makes later outputs depend
        # on it, too.
        if not is_new or expression.uses_index:
            self.is_regular = False
        names.variables[name] = expression
        return Variable(
            line=action.line,
            source=action.source,
            name=name,
            expression=expression,
            is_new=is_new,
        )

    def _branch(
        self, action: Action, keyword: str, tokens: Sequence[Token], names: Names
    ) -> Branch:
        declared, expression = self._condition(action, tokens, names)
        if len(declared) > 1:
            raise GoTemplateError(action.line, "expected at most one variable")
        sets_dot = keyword == "with"
        dot = _as_dot(expression) if sets_dot else names.dot
        inner = names.inner(dot)
        inner.variables.update(dict.fromkeys(declared, expression))
        then, end = self._block(inner)
        outer = names.inner(names.dot)
        outer.variables.update(dict.fromkeys(declared, expression))
        return Branch(
            line=action.line,
            source=action.source,
            expression=expression,
            name="".join(declared),
            sets_dot=sets_dot,
            then=then,
            otherwise=self._otherwise(action, keyword, end, outer),
        )

    def _loop(self, action: Action, names: Names) -> Loop:
        declared, expression = self._condition(action, action.tokens[1:], names)
        if len(declared) > _MOST_NAMES:
            raise GoTemplateError(action.line, "expected at most two variables")
        item = _as_dot(expression)
        inner = names.inner(item)
        inner.variables.update(dict.fromkeys(declared, item))
        self._loops += 1
        body, end = self._block(inner)
        self._loops -= 1
        return Loop(
            line=action.line,
            source=action.source,
            expression=expression,
            names=tuple(declared),
            body=body,
            otherwise=self._otherwise(action, "range", end, names.inner(names.dot)),
        )

    def _condition(
        self, action: Action, tokens: Sequence[Token], names: Names
    ) -> tuple[Sequence[str], Expression]:
        declared, _, tokens = _declaration(action, tokens)
        expression = Pipeline(action, tokens, names).parse()
        if expression.uses_index:
            self.is_regular = False
        return declared, expression

    def _otherwise(
        self, action: Action, keyword: str, end: Action | None, names: Names
    ) -> Sequence[Node]:
        """Return the nodes after ``else``, up to the end of the block."""
        if end is None:
            raise GoTemplateError(action.line, f"{{{{{action.source}}}}} has no end")
        if end.tokens[0].text == "end":
            return ()
        if len(end.tokens) > 1:
            if keyword == "range" or end.tokens[1].text != keyword:
                raise GoTemplateError(end.line, f"unexpected {end.source!r}")
            return (self._branch(end, keyword, end.tokens[2:], names),)
        nodes, last = self._block(names)
        if last is None or last.tokens[0].text != "end":
            raise GoTemplateError(end.line, "expected {{end}} after {{else}}")
        return nodes


def _as_dot(expression: Expression) -> Expression:
    """Return the scope of ``.`` in a block over an expression."""
    return attrs.evolve(
        DOT, uses_index=expression.uses_index, is_number=expression.is_number
    )


def _keyword(action: Action) -> str:
    first = action.tokens[0] if action.tokens else None
    return first.text if first is not None and first.kind == "name" else ""


def _declaration(
    action: Action, tokens: Sequence[Token]
) -> tuple[Sequence[str], bool, Sequence[Token]]:
    """Return the variables that an action sets, if they are new, and the expression."""
    signs = [
        place
        for place, token in enumerate(tokens)
        if token.kind == "mark" and token.text in (":=", "=")
    ]
    if not signs:
        return (), False, tokens
    variables = tokens[: signs[0] : 2]
    commas = tokens[1 : signs[0] : 2]
    is_right = all(
        token.kind == "variable" and token.text[1:].isidentifier()
        for token in variables
    ) and all(token.text == "," for token in commas)
    if not variables or not is_right:
        raise GoTemplateError(action.line, f"cannot read {action.source!r}")
    names = [token.text[1:] for token in variables]
    return names, tokens[signs[0]].text == ":=", tokens[signs[0] + 1 :]
