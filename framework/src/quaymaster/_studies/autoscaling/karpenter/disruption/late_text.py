"""A text of an event that is rendered when it is read.

A look at 1,000 nodes refuses most of them, and every text takes a trial.
"""

from collections.abc import Callable

__all__ = ["LateText"]


class LateText:
    """A text that is rendered once.

    Args:
        render: Returns the text.
    """

    __slots__ = ("_render", "_text")

    def __init__(self, render: Callable[[], str]) -> None:
        self._render: Callable[[], str] | None = render
        self._text = ""

    def __call__(self) -> str:
        """Return the text."""
        if self._render is not None:
            self._text, self._render = self._render(), None
        return self._text
