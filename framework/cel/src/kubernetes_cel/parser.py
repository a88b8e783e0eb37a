"""Parses expressions.

A recursive descent through the rules of ``parser/gen/CEL.g4`` (cel-go v0.26.0). It
has the same limits: how deep a rule may be nested in itself, and how deep the tree.
"""

from collections.abc import Callable
from typing import Final

from kubernetes_cel.ast import Entry, Expression, Field, UintLiteral
from kubernetes_cel.errors import CelCompilationError
from kubernetes_cel.lexer import Token, TokenKind
from kubernetes_cel.literals import (
    bytes_value,
    int_value,
    string_value,
    uint_value,
)
from kubernetes_cel.macros import MACROS, MacroError
from kubernetes_cel.nesting import Nesting
from kubernetes_cel.nodes import Nodes
from kubernetes_cel.token_reader import TokenReader

__all__ = ["LONGEST_EXPRESSION", "parse"]

LONGEST_EXPRESSION: Final = 100_000
"""The maximum number of characters of an expression."""
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
    # Code points, like upstream's limit, and not bytes.
    if len(text) > LONGEST_EXPRESSION:
        raise CelCompilationError(
            f"expression code point size exceeds limit: size: {len(text)}, "
            f"limit {LONGEST_EXPRESSION}"
        )
    return _Parser(text).whole()


class _Parser:
    """Parses one expression, token by token."""

    def __init__(self, text: str) -> None:
        self._tokens = TokenReader(text)
        self._nodes = Nodes()
        self._nesting = Nesting()

    def whole(self) -> Expression:
        node = self._expression()
        # An expression may end early, as in ``a b``.
        if self._tokens.first.kind is not TokenKind.END:
            raise self._tokens.unexpected("expecting <EOF>")
        self._tokens.problems.raise_errors()
        return node

    def _expression(self) -> Expression:
        with self._nesting.rule("expr"):
            test = self._either()
            if not self._tokens.has("?"):
                return test
            offset = self._tokens.take().offset
            # The grammar has ``conditionalOr`` between ``?`` and ``:``, so a nested
            # condition there needs parentheses.
            then = self._either()
            self._tokens.expect(":")
            other = self._expression()
            height = self._nesting.height(test, then, other)
            node = self._nodes.at(offset).call("_?_:_", test, then, other)
            return self._nesting.raised(node, height)

    def _either(self) -> Expression:
        with self._nesting.rule("conditionalOr"):
            return self._balanced("||", "_||_", self._both)

    def _both(self) -> Expression:
        with self._nesting.rule("conditionalAnd"):
            return self._balanced("&&", "_&&_", self._relation)

    def _balanced(
        self, sign: str, function: str, term: Callable[[], Expression]
    ) -> Expression:
        terms, offsets = [term()], []
        while self._tokens.has(sign):
            offsets.append(self._tokens.take().offset)
            terms.append(term())
        if not offsets:
            return terms[0]
        height = self._nesting.height(*terms)
        node = self._tree(function, terms, offsets)
        # Upstream's parser does not count the levels that balancing makes.
        return self._nesting.raised(node, height, counted=False)

    def _tree(
        self, function: str, terms: list[Expression], offsets: list[int]
    ) -> Expression:
        """Build a balanced tree of the terms of a chain."""
        if len(terms) == 1:
            return terms[0]
        # Balanced as by ``logicManager`` (cel-go, parser/helper.go): long chains stay
        # below the limit of nesting.
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
        with self._nesting.rule(rule):
            left = operand()
            while True:
                at = self._level_of_next(levels)
                if at is None or at < level:
                    return left
                sign = self._tokens.take()
                # The next level only: operators of one level associate to the left.
                right = self._chain(rule, levels, operand, at + 1)
                function = "@in" if sign.text == "in" else f"_{sign.text}_"
                height = self._nesting.height(left, right)
                left = self._nodes.at(sign.offset).call(function, left, right)
                self._nesting.raised(left, height)

    def _level_of_next(self, levels: tuple[frozenset[str], ...]) -> int | None:
        if self._tokens.first.kind not in (TokenKind.SIGN, TokenKind.KEYWORD):
            return None
        for level, signs in enumerate(levels):
            if self._tokens.first.text in signs:
                return level
        return None

    def _unary(self) -> Expression:
        with self._nesting.rule("unary"):
            sign = self._tokens.first
            if sign.kind is not TokenKind.SIGN or sign.text not in "!-":
                return self._member()
            # The sign belongs to the literal, which makes the smallest integer
            # possible.
            if sign.text == "-" and self._tokens.second.kind in (
                TokenKind.INT,
                TokenKind.DOUBLE,
            ):
                return self._member()
            count = 0
            while self._tokens.accept(sign.text):
                count += 1
            node = self._member()
            # An even number of signs cancels out here already, so it has no type to
            # check and no cost: ``!!'a'`` is valid (cel-go, parser.go).
            if count % 2 == 0:
                return node
            height = self._nesting.height(node)
            call = self._nodes.at(sign.offset).call(f"{sign.text}_", node)
            return self._nesting.raised(call, height, counted=False)

    def _member(self) -> Expression:
        with self._nesting.rule("member"):
            node = self._primary()
            while True:
                if self._tokens.has("."):
                    node = self._after_dot(node)
                elif self._tokens.has("["):
                    node = self._index(node)
                else:
                    return node

    def _after_dot(self, operand: Expression) -> Expression:
        dot = self._tokens.take()
        if self._tokens.accept("?"):
            name = self._name()
            height = self._nesting.height(operand)
            field = self._nodes.at(name.offset).literal(_unquoted(name))
            node: Expression = self._nodes.at(dot.offset).call("_?._", operand, field)
            return self._nesting.raised(node, height)
        name = self._name()
        height = self._nesting.height(operand)
        if name.kind is TokenKind.NAME and self._tokens.has("("):
            offset = self._tokens.first.offset
            arguments = self._arguments()
            height = max(height, self._nesting.height(*arguments))
            node = self._called(offset, name.text, operand, arguments)
        else:
            node = self._nodes.at(dot.offset).select(operand, _unquoted(name))
        return self._nesting.raised(node, height)

    def _name(self) -> Token:
        name = self._tokens.first
        if name.kind not in (TokenKind.NAME, TokenKind.QUOTED_NAME):
            raise self._tokens.unexpected("expecting IDENTIFIER")
        if name.kind is TokenKind.QUOTED_NAME:
            raise self._tokens.error(name.offset, "unsupported syntax: '`'")
        return self._tokens.take()

    def _index(self, operand: Expression) -> Expression:
        offset = self._tokens.take().offset
        function = "_[?_]" if self._tokens.accept("?") else "_[_]"
        index = self._expression()
        self._tokens.expect("]")
        height = self._nesting.height(operand, index)
        node = self._nodes.at(offset).call(function, operand, index)
        return self._nesting.raised(node, height)

    def _arguments(self) -> list[Expression]:
        self._tokens.expect("(")
        if self._tokens.accept(")"):
            return []
        arguments = [self._expression()]
        while self._tokens.accept(","):
            arguments.append(self._expression())
        self._tokens.expect(")")
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
                # The next errors of macros are found too, as upstream does.
                self._tokens.problems.add(error.node.offset, str(error))
                return self._nodes.at(error.node.offset).literal(None)
            if expanded is not None:
                return expanded
        if target is None:
            return self._nodes.call(name, *arguments)
        return self._nodes.member_call(name, target, *arguments)

    def _primary(self) -> Expression:
        with self._nesting.rule("primary"):
            token = self._tokens.first
            if token.kind is TokenKind.NAME or self._tokens.has("."):
                return self._named()
            if self._tokens.accept("("):
                node = self._expression()
                self._tokens.expect(")")
                return node
            if self._tokens.has("["):
                return self._list()
            if self._tokens.has("{"):
                return self._map()
            return self._literal()

    def _named(self) -> Expression:
        offset = self._tokens.first.offset
        dot = "." if self._tokens.accept(".") else ""
        if self._tokens.first.kind is not TokenKind.NAME:
            raise self._tokens.unexpected("expecting IDENTIFIER")
        type_name = self._tokens.take_type_name()
        if type_name is not None:
            return self._struct(dot + type_name)
        name = self._tokens.take()
        if name.text in _RESERVED:
            raise self._tokens.error(offset, f"reserved identifier: {name.text}")
        if self._tokens.has("("):
            at = self._tokens.first.offset
            arguments = self._arguments()
            height = self._nesting.height(*arguments)
            node = self._called(at, dot + name.text, None, arguments)
            return self._nesting.raised(node, height, counted=False)
        return self._nodes.at(name.offset).identifier(dot + name.text)

    def _list(self) -> Expression:
        offset = self._tokens.take().offset
        elements: list[Expression] = []
        optional: list[int] = []
        while not self._tokens.accept("]"):
            if not elements and self._tokens.has(","):
                # The grammar allows a comma in an empty list.
                self._trailing("]")
                break
            if self._tokens.accept("?"):
                optional.append(len(elements))
            elements.append(self._expression())
            self._separated("]")
        height = self._nesting.height(*elements)
        node = self._nodes.at(offset).list_of(elements, optional)
        return self._nesting.raised(node, height, counted=False)

    def _separated(self, end: str) -> None:
        if not self._tokens.has(end):
            self._tokens.expect(",")

    def _trailing(self, end: str) -> None:
        self._tokens.expect(",")
        self._tokens.expect(end)

    def _map(self) -> Expression:
        offset = self._tokens.take().offset
        entries: list[Entry] = []
        while not self._tokens.accept("}"):
            if not entries and self._tokens.has(","):
                self._trailing("}")
                break
            optional = self._tokens.accept("?")
            key = self._expression()
            colon = self._tokens.expect(":")
            value = self._expression()
            entries.append(
                self._nodes.at(colon.offset).entry(key, value, optional=optional)
            )
            self._separated("}")
        parts = (part for entry in entries for part in (entry.key, entry.value))
        height = self._nesting.height(*parts)
        node = self._nodes.at(offset).map_of(entries)
        return self._nesting.raised(node, height, counted=False)

    def _struct(self, name: str) -> Expression:
        offset = self._tokens.take().offset
        fields: list[Field] = []
        while not self._tokens.accept("}"):
            if not fields and self._tokens.has(","):
                self._trailing("}")
                break
            optional = self._tokens.accept("?")
            field = _unquoted(self._name())
            colon = self._tokens.expect(":")
            value = self._expression()
            fields.append(
                self._nodes.at(colon.offset).field(field, value, optional=optional)
            )
            self._separated("}")
        height = self._nesting.height(*(each.value for each in fields))
        node = self._nodes.at(offset).struct(name, fields)
        return self._nesting.raised(node, height, counted=False)

    def _literal(self) -> Expression:
        token = self._tokens.take()
        nodes = self._nodes.at(token.offset)
        text = token.text
        if text == "-" and token.kind is TokenKind.SIGN:
            token = self._tokens.take()
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
            problem = f"invalid {kind} literal"
            if token.kind in _TEXTS:
                problem += f": {error}"
            self._tokens.problems.add(nodes.offset, problem)
            return nodes.literal(None)
        self._tokens.give_back()
        raise self._tokens.unexpected("expecting an expression")


_TEXTS: Final = frozenset({TokenKind.STRING, TokenKind.BYTES})
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


def _double(text: str) -> float:
    value = float(text)
    # Python reads too large numbers as infinity, where Go reports an error.
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is out of range")
    return value


def _unquoted(name: Token) -> str:
    return name.text[1:-1] if name.kind is TokenKind.QUOTED_NAME else name.text
