"""What somebody may have meant who wrote a name that nobody knows."""

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: object, known: Iterable[str], *, closeness: float = 0.6) -> str:
    """``; did you mean 'x'?`` for the known name that looks most like it, or empty.

    Args:
        name: What was written.
        known: The names that there are.
        closeness: How much of both names has to be alike, from 0 to 1.
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(str(name).lower(), by_lower, 1, closeness)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
