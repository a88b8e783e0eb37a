"""The beginning and the end of the plugins of one profile."""

import operator
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TypeAlias

__all__ = ["Lifecycle"]

_Hook: TypeAlias = Callable[[], object]


class Lifecycle:
    """Calls ``start`` and ``close``, each once at most; a closed one never starts.

    Args:
        starts: The compiled ``start`` hooks, in the order of the plugins.
        closes: The compiled ``close`` hooks, in the same order.
    """

    def __init__(self, starts: Sequence[_Hook], closes: Sequence[_Hook]) -> None:
        self._starts = starts
        self._closes = closes

    def start(self, call: Callable[[_Hook], object] = operator.call) -> None:
        """Tell the plugins that they are at work.

        Args:
            call: Calls a hook; by default as it is, so that no failure comes through.
        """
        starts, self._starts = self._starts, ()
        for start in starts:
            call(start)

    def close(self, call: Callable[[_Hook], object] = operator.call) -> None:
        """Tell the plugins that they are no longer at work, the last one first.

        Args:
            call: The same. Where something comes through, such as Ctrl-C, the others
                are closed all the same.
        """
        closes, self._closes, self._starts = self._closes, (), ()
        with ExitStack() as stack:
            for close in closes:
                stack.callback(call, close)
