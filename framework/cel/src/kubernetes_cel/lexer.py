"""Tokens of expressions.

Mirrors the lexer rules of ``parser/gen/CEL.g4`` (cel-go v0.26.0).
"""

import enum
import re
from typing import Final, NamedTuple

from kubernetes_cel.errors import CelCompilationError

__all__ = ["Place", "Token", "TokenKind", "place_of", "tokens_of"]

_ESCAPE: Final = (
    r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}"
    r"|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
)
_KEYWORDS: Final = frozenset({"in", "true", "false", "null"})
_STRING: Final = "|".join(
    (
        # Raw strings with three quotes come first, or two quotes would be read as an
        # empty string.
        r'[rR]"""(?s:.*?)"""',
        r"[rR]'''(?s:.*?)'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
    )
)


class TokenKind(enum.Enum):
    """The kinds of tokens, named like the groups of ``_TOKEN``."""

    SPACE = "SPACE"
    BYTES = "BYTES"
    STRING = "STRING"
    DOUBLE = "DOUBLE"
    UINT = "UINT"
    INT = "INT"
    NAME = "NAME"
    KEYWORD = "KEYWORD"
    QUOTED_NAME = "QUOTED_NAME"
    SIGN = "SIGN"
    END = "END"


_TOKEN: Final = re.compile(
    "|".join(
        f"(?P<{kind.value}>{pattern})"
        for kind, pattern in (
            (TokenKind.SPACE, r"[\t \r\n\f]+|//[^\n]*"),
            (TokenKind.BYTES, rf"[bB](?:{_STRING})"),
            (TokenKind.STRING, _STRING),
            (
                TokenKind.DOUBLE,
                # Doubles before integers, and unsigned integers before signed ones:
                # alternatives are tried in order, and the first match wins.
                r"(?:[0-9]*\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+",
            ),
            (TokenKind.UINT, r"0x[0-9a-fA-F]+[uU]|[0-9]+[uU]"),
            (TokenKind.INT, r"0x[0-9a-fA-F]+|[0-9]+"),
            (TokenKind.NAME, r"[A-Za-z_][A-Za-z0-9_]*"),
            (TokenKind.QUOTED_NAME, r"`[A-Za-z0-9_.\-/ ]+`"),
            (TokenKind.SIGN, r"==|!=|<=|>=|&&|\|\||[\[\]{}().,\-!?:+*/%<>]"),
        )
    )
)


class Place(NamedTuple):
    """A line and a column of an expression, both from 1, and the text of the line."""

    line: int
    column: int
    source: str


class Token(NamedTuple):
    """One token.

    Attributes:
        kind: Its kind.
        text: Its text.
        offset: The index of its first character.
    """

    kind: TokenKind
    text: str
    offset: int


def place_of(text: str, offset: int) -> Place:
    """Return the place of a character of a text."""
    begin = text.rfind("\n", 0, offset) + 1
    source, _, _ = text[begin:].partition("\n")
    return Place(text.count("\n", 0, offset) + 1, offset - begin + 1, source)


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text, without white space and comments; the last is END.

    Raises:
        CelCompilationError: A character does not begin a token.
    """
    tokens: list[Token] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None or match.lastgroup is None:
            raise CelCompilationError(
                f"token recognition error at: {text[offset]!r}", *place_of(text, offset)
            )
        kind = TokenKind(match.lastgroup)
        if kind is TokenKind.NAME and match.group() in _KEYWORDS:
            kind = TokenKind.KEYWORD
        if kind is not TokenKind.SPACE:
            tokens.append(Token(kind, match.group(), offset))
        offset = match.end()
    tokens.append(Token(TokenKind.END, "<EOF>", offset))
    return tokens
