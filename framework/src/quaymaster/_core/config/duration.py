"""Durations as Go writes them: ``15s``, ``1m30s``, ``1.5h``.

Mirrors ``ParseDuration`` and ``Duration.String`` of Go's package time, to the
microsecond.
"""

import re
from datetime import timedelta

__all__ = ["PATTERN", "format_duration", "parse_duration"]

# The two spellings of microseconds are U+00B5 and U+03BC; Go accepts both.
_UNITS = {
    "ns": 1e-3,
    "us": 1.0,
    "µs": 1.0,
    "μs": 1.0,
    "ms": 1e3,
    "s": 1e6,
    "m": 60e6,
    "h": 3600e6,
}
_PART = r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
# Without groups that capture and without lookarounds: the JSON Schema of configurations
# contains the same expression, and editors evaluate it in JavaScript.
PATTERN = r"[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)"
"""Matches a duration as a whole."""

_MICROSECOND = timedelta(microseconds=1)
_LONGEST = (2**63 - 1) / 1e3  # 64 bits of nanoseconds, some 292 years


def parse_duration(text: str) -> timedelta | None:
    """Parse a duration; None if the text is not valid, or too long for Go."""
    if not re.fullmatch(PATTERN, text, re.ASCII):
        return None
    microseconds = sum(
        float(amount) * _UNITS[unit] for amount, unit in re.findall(_PART, text)
    )
    if microseconds > _LONGEST:
        return None
    length = timedelta(microseconds=microseconds)
    return -length if text.startswith("-") else length


def format_duration(length: timedelta) -> str:
    """Write a duration the way Go does: ``1m30s``, ``1.5s``, ``200ms``, ``0s``."""
    if length < timedelta(0):
        return f"-{format_duration(-length)}"
    microseconds = length // _MICROSECOND
    if microseconds < 1_000_000:
        return _below_a_second(microseconds)
    minutes, rest = divmod(microseconds, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, 1_000_000)}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _below_a_second(microseconds: int) -> str:
    if microseconds == 0:
        return "0s"
    if microseconds < 1_000:
        return f"{microseconds}µs"
    return f"{_decimal(microseconds, 1_000)}ms"


def _decimal(amount: int, unit: int) -> str:
    whole, part = divmod(amount, unit)
    digits = f"{part:0{len(str(unit)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
