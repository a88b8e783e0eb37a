"""Suggests a name for one that was probably misspelt."""

import difflib
from collections.abc import Iterable
from typing import Final

__all__ = ["did_you_mean"]

# How similar two names must be. Long names share letters by chance; in a short one, a
# single mistake is a large part. Chosen by looking at real misspellings.
_CLOSE: Final = 0.72
_CLOSE_IF_SHORT: Final = 0.6
_SHORT: Final = 6


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` with the most similar name, or empty."""
    by_lower = {candidate.lower(): candidate for candidate in names}
    written = str(name).lower()
    closeness = _CLOSE_IF_SHORT if len(written) < _SHORT else _CLOSE
    close = difflib.get_close_matches(written, by_lower, 1, closeness)
    if not close and len(written) >= _SHORT:  # the name may be cut off
        close = [candidate for candidate in by_lower if candidate.startswith(written)]
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
