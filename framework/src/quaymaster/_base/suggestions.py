"""What somebody may have meant who wrote a name that nobody knows."""

import difflib
from collections.abc import Iterable
from typing import Final

__all__ = ["did_you_mean"]

# How much of both names has to be alike. Long names share letters by chance; of a short
# one, a single mistake is a large part. Chosen by looking at real misspellings.
_CLOSE: Final = 0.72
_CLOSE_IF_SHORT: Final = 0.6
_SHORT: Final = 6


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the known name that looks most like it, or empty."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    written = str(name).lower()
    closeness = _CLOSE_IF_SHORT if len(written) < _SHORT else _CLOSE
    close = difflib.get_close_matches(written, by_lower, 1, closeness)
    if not close and len(written) >= _SHORT:  # a name that is cut off
        close = [one for one in by_lower if one.startswith(written)]
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
