"""Raises Python's recursion limit for deep expressions.

Upstream accepts expressions of up to 250 levels. The parser needs a dozen calls for
each level, which is more than Python allows by default.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["deep_calls"]

_CALLS: Final = 10_000
_LOCK: Final = threading.Lock()
"""The limit applies to the whole process, so one thread at a time changes it."""


@contextmanager
def deep_calls() -> Iterator[None]:
    """Allow as many nested calls as the deepest expression needs."""
    with _LOCK:
        before = sys.getrecursionlimit()
        # Never lowered: another part of the process may have raised it.
        sys.setrecursionlimit(max(before, _CALLS))
        try:
            yield
        finally:
            sys.setrecursionlimit(before)
