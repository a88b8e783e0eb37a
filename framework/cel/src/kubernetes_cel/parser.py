"""Parses expressions.

A recursive descent through the rules of ``parser/gen/CEL.g4`` (cel-go v0.26.0). It
has the same limits: how deep a rule may be nested in itself, and how deep the tree.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from kubernetes_cel.ast import Entry, Expression, Field, UintLiteral
from kubernetes_cel.errors import CelCompilationError
from kubernetes_cel.lexer import Token, TokenKind, place_of, tokens_of
from kubernetes_cel.literals import (
    bytes_value,
    int_value,
    string_value,
    uint_value,
)
from kubernetes_cel.macros import MACROS, MacroError
from kubernetes_cel.nodes import Nodes

__all__ = ["LONGEST_EXPRESSION", "parse"]

LONGEST_EXPRESSION: Final = 100_000
"""The maximum number of characters of an expression."""
_DEEPEST: Final = 250
_RELATIONS: Final = frozenset({"<", "<=", ">=", ">", "==", "!=", "in"})
_PRODUCTS: Final = frozenset({"*", "/", "%"})
_SUMS: Final = frozenset({"+", "-"})
_RESERVED_WORDS: Final = """
    as break const continue else false for function if import in let loop package
    namespace null return true var void while
    """
_RESERVED: Final = frozenset(_RESERVED_WORDS.split())


def parse(text: str) -> Expression:
    """Return the tree of an expression, with its macros expanded.

    Raises:
        CelCompilationError: It is not an expression, or it is too long or too deep.
    """
    if len(text) > LONGEST_EXPRESSION:
        raise CelCompilationError(
            f"expression code point size exceeds limit: size: {len(text)}, "
            f"limit {LONGEST_EXPRESSION}"
        )
    return _Parser(text).whole()


class _Parser:
    """Parses one expression, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._next = 0
        self._nodes = Nodes()
        self._open = Counter[str]()
        self._heights: dict[int, int] = {}

    # Tokens.

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._token
        self._next += 1
        return token

    def _is(self, sign: str) -> bool:
        token = self._token
        return token.text == sign and token.kind in (
            TokenKind.SIGN,
            TokenKind.KEYWORD,
        )

    def _accept(self, sign: str) -> bool:
        if self._is(sign):
            self._next += 1
            return True
        return False

    def _expect(self, sign: str) -> Token:
        if not self._is(sign):
            raise self._unexpected(f"expecting '{sign}'")
        return self._take()

    def _unexpected(self, expected: str) -> CelCompilationError:
        token = self._token
        return self._error(
            token.offset, f"Syntax error: mismatched input '{token.text}' {expected}"
        )

    def _error(self, offset: int, problem: str) -> CelCompilationError:
        return CelCompilationError(problem, *place_of(self._text, offset))

    # Depths.

    @contextmanager
    def _rule(self, name: str) -> Iterator[None]:
        """Enter a rule; repetitions of a left-recursive rule are not nested in it."""
        self._open[name] += 1
        if self._open[name] > _DEEPEST:
            raise CelCompilationError(
                f"expression recursion limit exceeded: {_DEEPEST}"
            )
        yield
        self._open[name] -= 1

    def _height(self, *nodes: Expression) -> int:
        return max((self._heights.get(node.number, 0) for node in nodes), default=0)

    def _raised(
        self, node: Expression, height: int, *, counted: bool = True
    ) -> Expression:
        """Record the height of a node over its descendants; return the node."""
        height += counted
        if height > _DEEPEST:
            raise CelCompilationError("max recursion depth exceeded")
        if height:
            self._heights[node.number] = height
        return node

    # Rules.

    def whole(self) -> Expression:
        node = self._expression()
        if self._token.kind is not TokenKind.END:
            raise self._unexpected("expecting <EOF>")
        return node

    def _expression(self) -> Expression:
        with self._rule("expr"):
            test = self._either()
            if not self._is("?"):
                return test
            offset = self._take().offset
            then = self._either()
            self._expect(":")
            other = self._expression()
            height = self._height(test, then, other)
            node = self._nodes.at(offset).call("_?_:_", test, then, other)
            return self._raised(node, height)

    def _either(self) -> Expression:
        with self._rule("conditionalOr"):
            return self._balanced("||", "_||_", self._both)

    def _both(self) -> Expression:
        with self._rule("conditionalAnd"):
            return self._balanced("&&", "_&&_", self._relation)

    def _balanced(
        self, sign: str, function: str, term: Callable[[], Expression]
    ) -> Expression:
        terms, offsets = [term()], []
        while self._is(sign):
            offsets.append(self._take().offset)
            terms.append(term())
        if not offsets:
            return terms[0]
        height = self._height(*terms)
        node = self._tree(function, terms, offsets)
        return self._raised(node, height, counted=False)

    def _tree(
        self, function: str, terms: list[Expression], offsets: list[int]
    ) -> Expression:
        """Build a balanced tree of the terms of a chain."""
        if len(terms) == 1:
            return terms[0]
        middle = len(offsets) // 2
        left = self._tree(function, terms[: middle + 1], offsets[:middle])
        right = self._tree(function, terms[middle + 1 :], offsets[middle + 1 :])
        return self._nodes.at(offsets[middle]).call(function, left, right)

    def _relation(self) -> Expression:
        return self._chain("relation", (_RELATIONS,), self._calculation)

    def _calculation(self) -> Expression:
        return self._chain("calc", (_SUMS, _PRODUCTS), self._unary)

    def _chain(
        self,
        rule: str,
        levels: tuple[frozenset[str], ...],
        operand: Callable[[], Expression],
        level: int = 0,
    ) -> Expression:
        """Parse operators of some levels; the first level has the lowest precedence."""
        with self._rule(rule):
            left = operand()
            while True:
                at = self._level_of_next(levels)
                if at is None or at < level:
                    return left
                sign = self._take()
                right = self._chain(rule, levels, operand, at + 1)
                function = "@in" if sign.text == "in" else f"_{sign.text}_"
                height = self._height(left, right)
                left = self._nodes.at(sign.offset).call(function, left, right)
                self._raised(left, height)

    def _level_of_next(self, levels: tuple[frozenset[str], ...]) -> int | None:
        if self._token.kind not in (TokenKind.SIGN, TokenKind.KEYWORD):
            return None
        for level, signs in enumerate(levels):
            if self._token.text in signs:
                return level
        return None

    def _unary(self) -> Expression:
        with self._rule("unary"):
            sign = self._token
            if sign.kind is not TokenKind.SIGN or sign.text not in "!-":
                return self._member()
            if sign.text == "-" and self._tokens[self._next + 1].kind in (
                TokenKind.INT,
                TokenKind.DOUBLE,
            ):
                return self._member()
            count = 0
            while self._accept(sign.text):
                count += 1
            node = self._member()
            if count % 2 == 0:
                return node
            height = self._height(node)
            call = self._nodes.at(sign.offset).call(f"{sign.text}_", node)
            return self._raised(call, height, counted=False)

    def _member(self) -> Expression:
        with self._rule("member"):
            node = self._primary()
            while True:
                if self._is("."):
                    node = self._after_dot(node)
                elif self._is("["):
                    node = self._index(node)
                else:
                    return node

    def _after_dot(self, operand: Expression) -> Expression:
        dot = self._take()
        if self._accept("?"):
            name = self._name()
            height = self._height(operand)
            field = self._nodes.at(name.offset).literal(_unquoted(name))
            node: Expression = self._nodes.at(dot.offset).call("_?._", operand, field)
            return self._raised(node, height)
        name = self._name()
        height = self._height(operand)
        if name.kind is TokenKind.NAME and self._is("("):
            offset = self._token.offset
            arguments = self._arguments()
            height = max(height, self._height(*arguments))
            node = self._called(offset, name.text, operand, arguments)
        else:
            node = self._nodes.at(dot.offset).select(operand, _unquoted(name))
        return self._raised(node, height)

    def _name(self) -> Token:
        if self._token.kind not in (TokenKind.NAME, TokenKind.QUOTED_NAME):
            raise self._unexpected("expecting IDENTIFIER")
        if self._token.kind is TokenKind.QUOTED_NAME:
            raise self._error(self._token.offset, "unsupported syntax: '`'")
        return self._take()

    def _index(self, operand: Expression) -> Expression:
        offset = self._take().offset
        function = "_[?_]" if self._accept("?") else "_[_]"
        index = self._expression()
        self._expect("]")
        height = self._height(operand, index)
        node = self._nodes.at(offset).call(function, operand, index)
        return self._raised(node, height)

    def _arguments(self) -> list[Expression]:
        self._expect("(")
        if self._accept(")"):
            return []
        arguments = [self._expression()]
        while self._accept(","):
            arguments.append(self._expression())
        self._expect(")")
        return arguments

    def _called(
        self,
        offset: int,
        name: str,
        target: Expression | None,
        arguments: list[Expression],
    ) -> Expression:
        self._nodes.at(offset)
        macro = MACROS.get((name, len(arguments), target is not None))
        if macro is not None:
            try:
                expanded = macro(self._nodes, target, arguments)
            except MacroError as error:
                raise self._error(error.node.offset, str(error)) from None
            if expanded is not None:
                return expanded
        if target is None:
            return self._nodes.call(name, *arguments)
        return self._nodes.member_call(name, target, *arguments)

    def _primary(self) -> Expression:
        with self._rule("primary"):
            token = self._token
            if token.kind is TokenKind.NAME or self._is("."):
                return self._named()
            if self._accept("("):
                node = self._expression()
                self._expect(")")
                return node
            if self._is("["):
                return self._list()
            if self._is("{"):
                return self._map()
            return self._literal()

    def _named(self) -> Expression:
        offset = self._token.offset
        dot = "." if self._accept(".") else ""
        if self._token.kind is not TokenKind.NAME:
            raise self._unexpected("expecting IDENTIFIER")
        if (end := self._end_of_type_name()) is not None:
            names = [token.text for token in self._tokens[self._next : end : 2]]
            self._next = end
            return self._struct(dot + ".".join(names))
        name = self._take()
        if name.text in _RESERVED:
            raise self._error(offset, f"reserved identifier: {name.text}")
        if self._is("("):
            at = self._token.offset
            arguments = self._arguments()
            height = self._height(*arguments)
            node = self._called(at, dot + name.text, None, arguments)
            return self._raised(node, height, counted=False)
        return self._nodes.at(offset).identifier(dot + name.text)

    def _end_of_type_name(self) -> int | None:
        """Return the end of ``a.b.c`` if a ``{`` follows it, or None."""
        end = self._next + 1
        while (
            self._tokens[end].text == "."
            and self._tokens[end].kind is TokenKind.SIGN
            and self._tokens[end + 1].kind is TokenKind.NAME
        ):
            end += 2
        follows = self._tokens[end]
        return end if follows.text == "{" and follows.kind is TokenKind.SIGN else None

    def _list(self) -> Expression:
        offset = self._take().offset
        elements: list[Expression] = []
        optional: list[int] = []
        while not self._accept("]"):
            if not elements and self._is(","):
                self._trailing("]")
                break
            if self._accept("?"):
                optional.append(len(elements))
            elements.append(self._expression())
            self._separated("]")
        height = self._height(*elements)
        node = self._nodes.at(offset).list_of(elements, optional)
        return self._raised(node, height, counted=False)

    def _separated(self, end: str) -> None:
        if not self._is(end):
            self._expect(",")

    def _trailing(self, end: str) -> None:
        self._expect(",")
        self._expect(end)

    def _map(self) -> Expression:
        offset = self._take().offset
        entries: list[Entry] = []
        while not self._accept("}"):
            if not entries and self._is(","):
                self._trailing("}")
                break
            optional = self._accept("?")
            key = self._expression()
            colon = self._expect(":")
            value = self._expression()
            entries.append(
                self._nodes.at(colon.offset).entry(key, value, optional=optional)
            )
            self._separated("}")
        height = self._height(*(node for each in entries for node in _parts(each)))
        node = self._nodes.at(offset).map_of(entries)
        return self._raised(node, height, counted=False)

    def _struct(self, name: str) -> Expression:
        offset = self._take().offset
        fields: list[Field] = []
        while not self._accept("}"):
            if not fields and self._is(","):
                self._trailing("}")
                break
            optional = self._accept("?")
            field = _unquoted(self._name())
            colon = self._expect(":")
            value = self._expression()
            fields.append(
                self._nodes.at(colon.offset).field(field, value, optional=optional)
            )
            self._separated("}")
        height = self._height(*(each.value for each in fields))
        node = self._nodes.at(offset).struct(name, fields)
        return self._raised(node, height, counted=False)

    def _literal(self) -> Expression:
        token = self._take()
        nodes = self._nodes.at(token.offset)
        text = token.text
        if text == "-" and token.kind is TokenKind.SIGN:
            token = self._take()
            text = f"-{token.text}"
        try:
            match token.kind:
                case TokenKind.INT:
                    return nodes.literal(int_value(text))
                case TokenKind.UINT if not text.startswith("-"):
                    return nodes.literal(UintLiteral(uint_value(text[:-1])))
                case TokenKind.DOUBLE:
                    return nodes.literal(_double(text))
                case TokenKind.STRING if not text.startswith("-"):
                    return nodes.literal(string_value(text))
                case TokenKind.BYTES if not text.startswith("-"):
                    return nodes.literal(bytes_value(text))
                case TokenKind.KEYWORD if text in _CONSTANTS:
                    return nodes.literal(_CONSTANTS[text])
        except ValueError as error:
            kind = token.kind.value.lower()
            raise self._error(
                token.offset, f"invalid {kind} literal: {error}"
            ) from error
        self._next -= 1
        raise self._unexpected("expecting an expression")


_CONSTANTS: Final = {"true": True, "false": False, "null": None}


def _double(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is out of range")
    return value


def _unquoted(name: Token) -> str:
    return name.text[1:-1] if name.kind is TokenKind.QUOTED_NAME else name.text


def _parts(entry: Entry) -> Iterator[Expression]:
    yield entry.key
    yield entry.value
