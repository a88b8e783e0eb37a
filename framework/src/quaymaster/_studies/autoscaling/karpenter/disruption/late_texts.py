"""Texts of events that are rendered when they are read.

The events of a cluster show the last text for each node. A look at 1,000
nodes refuses most of them, and every text takes a trial.
"""

import weakref
from collections import deque
from collections.abc import Callable
from typing import Final

__all__ = ["LateText", "LateTexts"]

_KEPT_LOOKS: Final = 8
"""For how many looks a text may keep the state that it is rendered from."""


class LateText:
    """A text that is rendered once.

    Args:
        render: Returns the text.
    """

    __slots__ = ("__weakref__", "_render", "_text")

    def __init__(self, render: Callable[[], str]) -> None:
        self._render: Callable[[], str] | None = render
        self._text = ""

    def __call__(self) -> str:
        """Return the text."""
        if self._render is not None:
            self._text, self._render = self._render(), None
        return self._text


class LateTexts:
    """Renders texts before they keep many states of a cluster in memory."""

    def __init__(self) -> None:
        self._looks: deque[list[weakref.ref[LateText]]] = deque([[]])

    def add(self, text: LateText) -> None:
        """Note a text of this look."""
        # A later event about the same node replaces the text, which is then gone.
        self._looks[-1].append(weakref.ref(text))

    def end_look(self) -> None:
        """Render the texts of looks that were made long ago."""
        self._looks.append([])
        if len(self._looks) > _KEPT_LOOKS:
            for reference in self._looks.popleft():
                text = reference()
                if text is not None:
                    text()
