"""Room for expressions that are deep.

Upstream takes expressions of up to 250 levels, of which the reader needs a dozen calls
each. That is more than Python allows unless it is told.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["deep_calls"]

_CALLS: Final = 10_000
_LOCK: Final = threading.Lock()
"""The limit is one for the whole process: who raises it lets the others wait."""


@contextmanager
def deep_calls() -> Iterator[None]:
    """Let calls be as deep as the deepest expression needs."""
    with _LOCK:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, _CALLS))
        try:
            yield
        finally:
            sys.setrecursionlimit(before)
