"""Collects the errors of an expression.

Mirrors ``common/errors.go`` (cel-go v0.29).
"""

from typing import Final

from kubernetes_cel.errors import CelCompilationError
from kubernetes_cel.lexer import place_of

__all__ = ["Problems"]

_MOST: Final = 100


class Problems:
    """The errors of one expression.

    Args:
        text: The expression.
    """

    __slots__ = ("_entries", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._entries: list[tuple[int, str]] = []

    def add(self, offset: int, problem: str) -> None:
        """Add an error at a place of the text."""
        self._entries.append((offset, problem))

    def raise_errors(self) -> None:
        """Raise all errors as one, if there are any.

        Raises:
            CelCompilationError: There are errors.
        """
        if self._entries:
            raise self.error()

    def error(self) -> CelCompilationError:
        """Return all errors as one.

        It is the first error by place; its ``further`` are the next errors. As upstream
        does, it counts errors beyond the first 100 that were added, but omits them.
        """
        # Cut before sorting, as upstream stops recording.
        entries = sorted(self._entries[:_MOST], key=lambda entry: entry[0])
        first, *further = (
            (problem, *place_of(self._text, offset)) for offset, problem in entries
        )
        return CelCompilationError(
            *first,
            further=[CelCompilationError(*each) for each in further],
            omitted=len(self._entries) - len(entries),
        )
