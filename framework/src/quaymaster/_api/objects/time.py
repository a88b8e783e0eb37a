"""Points in time, as in API objects."""

import functools
import re
from datetime import UTC, datetime
from typing import Final, Self

from quaymaster._base.errors import TimeError

__all__ = ["MicroTime", "Time"]

_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC).timestamp()
_LAST: Final = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
_RFC3339: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})",
    re.ASCII,
)


class Time(float):
    """Seconds since the Unix epoch: a float that is written as an RFC 3339 text.

    Compares and subtracts like the ``now()`` of a clock, exactly to the microsecond.
    ``Time(clock.now())`` makes one from a number, ``Time.parse(text)`` one from a text.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an RFC 3339 text such as ``2026-01-31T12:00:00Z``.

        Raises:
            TimeError: The text does not have that form.
        """
        return cls(_seconds(text))

    def __str__(self) -> str:
        """Return the text of Kubernetes: in UTC, with a fraction only if needed."""
        return _text(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.parse({str(self)!r})"


class MicroTime(Time):
    """A `Time` that is always written with six digits after the second."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{_moment(self).isoformat(timespec='microseconds')}Z"


@functools.lru_cache(maxsize=4096)
def _seconds(text: str) -> float:
    if not _RFC3339.fullmatch(text):
        raise TimeError(text)
    try:
        return datetime.fromisoformat(text.upper()).timestamp()
    except ValueError as error:
        raise TimeError(text) from error


@functools.lru_cache(maxsize=4096)
def _text(seconds: float) -> str:
    return f"{_moment(seconds).isoformat()}Z"


def _moment(seconds: float) -> datetime:
    """Return the time in UTC; times outside of the calendar become one of its ends."""
    within = min(max(float(seconds), _FIRST), _LAST)
    return datetime.fromtimestamp(within, UTC).replace(tzinfo=None)
