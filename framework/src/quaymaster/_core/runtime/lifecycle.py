"""The beginning and the end of the plugins of one profile."""

import operator
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TypeAlias

__all__ = ["Lifecycle"]

_Hook: TypeAlias = Callable[[], object]


class Lifecycle:
    """Calls ``start`` and ``close``, each at most once; after a close, nothing starts.

    Args:
        starts: The compiled ``start`` hooks, in the order of the plugins.
        closes: The compiled ``close`` hooks, in the same order.
    """

    def __init__(self, starts: Sequence[_Hook], closes: Sequence[_Hook]) -> None:
        self._starts = starts
        self._closes = closes

    def start(self, call: Callable[[_Hook], object] = operator.call) -> None:
        """Start the plugins.

        Args:
            call: Calls a hook; by default directly, since compiled hooks never raise.
        """
        starts, self._starts = self._starts, ()
        for start in starts:
            call(start)

    def close(self, call: Callable[[_Hook], object] = operator.call) -> None:
        """Close the plugins, the last one first.

        Args:
            call: Calls a hook. If it raises, for Ctrl-C as an example, the other
                plugins are closed nevertheless.
        """
        closes, self._closes, self._starts = self._closes, (), ()
        # A stack calls the remaining hooks although one raises, and chains the
        # exceptions.
        with ExitStack() as stack:
            for close in closes:
                stack.callback(call, close)
