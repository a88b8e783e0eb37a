"""Limits how deep expressions may be nested, as upstream's parser does."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kubernetes_cel.ast import Expression
from kubernetes_cel.errors import CelCompilationError

__all__ = ["Nesting"]

# The default ``maxRecursionDepth`` of cel-go's parser.
_DEEPEST: Final = 250


class Nesting:
    """The open rules of a parser, and the heights of the nodes that it has built."""

    __slots__ = ("_heights", "_open")

    def __init__(self) -> None:
        self._open = Counter[str]()
        self._heights: dict[int, int] = {}

    @contextmanager
    def rule(self, name: str) -> Iterator[None]:
        """Enter a rule; repetitions of a left-recursive rule are not nested in it.

        Raises:
            CelCompilationError: The rule is nested in itself too often.
        """
        self._open[name] += 1
        # Counted for each rule, as ANTLR's listener does; parentheses nest several
        # rules at once.
        if self._open[name] > _DEEPEST:
            raise CelCompilationError(
                f"expression recursion limit exceeded: {_DEEPEST}"
            )
        yield
        # Not in a ``finally``: an error ends the whole parser.
        self._open[name] -= 1

    def height(self, *nodes: Expression) -> int:
        """Return the largest height of some nodes."""
        return max((self._heights.get(node.number, 0) for node in nodes), default=0)

    def raised(
        self, node: Expression, height: int, *, counted: bool = True
    ) -> Expression:
        """Record the height of a node over its descendants; return the node.

        Args:
            node: The node.
            height: The height of its descendants.
            counted: Whether the node itself is one level.

        Raises:
            CelCompilationError: The tree is too high.
        """
        height += counted
        if height > _DEEPEST:
            raise CelCompilationError("max recursion depth exceeded")
        # Leaves have no height, and need no entry.
        if height:
            self._heights[node.number] = height
        return node
