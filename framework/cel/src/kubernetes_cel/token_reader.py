"""Reads the tokens of an expression one by one, for the parser."""

from kubernetes_cel.errors import CelCompilationError
from kubernetes_cel.lexer import Token, TokenKind, tokens_of
from kubernetes_cel.problems import Problems

__all__ = ["TokenReader"]


class TokenReader:
    """The tokens of an expression that have not been read yet.

    Args:
        text: The expression.

    Attributes:
        problems: The errors until now.

    Raises:
        CelCompilationError: Something in the text is not a token.
    """

    __slots__ = ("_next", "_tokens", "problems")

    def __init__(self, text: str) -> None:
        self.problems = Problems(text)
        self._tokens = tokens_of(text)
        self._next = 0

    @property
    def first(self) -> Token:
        """The next token; at the end it is of the kind ``END``."""
        return self._tokens[self._next]

    @property
    def second(self) -> Token:
        """The token after `first`, which must not be the end."""
        return self._tokens[self._next + 1]

    def take(self) -> Token:
        """Read the next token."""
        token = self.first
        self._next += 1
        return token

    def give_back(self) -> None:
        """Undo the last `take`."""
        self._next -= 1

    def has(self, sign: str) -> bool:
        """Return whether the next token is this sign or keyword."""
        token = self.first
        return token.text == sign and token.kind in (
            TokenKind.SIGN,
            TokenKind.KEYWORD,
        )

    def accept(self, sign: str) -> bool:
        """Read a sign or keyword if it is next; return whether it was."""
        if self.has(sign):
            self._next += 1
            return True
        return False

    def expect(self, sign: str) -> Token:
        """Read a sign or keyword.

        Raises:
            CelCompilationError: Another token is next.
        """
        if not self.has(sign):
            raise self.unexpected(f"expecting '{sign}'")
        return self.take()

    def take_type_name(self) -> str | None:
        """Read ``a.b.c`` if a ``{`` follows it; else read nothing and return None."""
        end = self._next + 1
        while (
            self._tokens[end].text == "."
            and self._tokens[end].kind is TokenKind.SIGN
            and self._tokens[end + 1].kind is TokenKind.NAME
        ):
            end += 2
        follower = self._tokens[end]
        if follower.text != "{" or follower.kind is not TokenKind.SIGN:
            return None
        names = [token.text for token in self._tokens[self._next : end : 2]]
        self._next = end
        return ".".join(names)

    def unexpected(self, expected: str) -> CelCompilationError:
        """Return the error for the next token, in the words of upstream's parser."""
        token = self.first
        return self.error(
            token.offset, f"Syntax error: mismatched input '{token.text}' {expected}"
        )

    def error(self, offset: int, problem: str) -> CelCompilationError:
        """Add an error at a place of the text; return the errors until now as one."""
        self.problems.add(offset, problem)
        return self.problems.error()
