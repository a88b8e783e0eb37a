"""Durations and timestamps: texts, limits and parts.

Mirrors ``common/types/duration.go`` and ``common/types/timestamp.go`` (cel-go v0.26.0)
and ``ParseDuration`` (Go, ``time/format.go``).
"""

import datetime
import re
import zoneinfo
from collections.abc import Callable, Iterator
from typing import Final

from kubernetes_cel.declarations import Overload, method
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.values import MAX_INT, MIN_INT, Duration, Timestamp

__all__ = [
    "DURATIONS",
    "NANOS",
    "OVERLOADS",
    "duration_of",
    "duration_text",
    "in_range",
    "timestamp_of",
    "timestamp_text",
]

NANOS: Final = 10**9
DURATIONS: Final = (MIN_INT, MAX_INT)
"""The shortest and the longest duration, in nanoseconds."""
_FIRST, _LAST = -62135596800, 253402300799
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # micro
    "μs": 10**3,
    "ms": 10**6,
    "s": NANOS,
    "m": 60 * NANOS,
    "h": 3600 * NANOS,
}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)")
_TIMESTAMP: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d?:\d\d:\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_EPOCH: Final = datetime.datetime(1970, 1, 1)


def duration_of(text: str) -> Duration:
    """Parse a duration such as ``1h30m`` or ``-1.5s``.

    Raises:
        ValueError: The text is not a duration, or the duration is too long.
    """
    rest = text[1:] if text[:1] in ("+", "-") else text
    # The only number without a unit that Go accepts.
    if rest == "0":
        return Duration(0)
    nanos, end = 0, 0
    while end < len(rest):
        match = _PART.match(rest, end)
        if match is None or not (match[1] or match[2]) or match[3] not in _UNITS:
            raise ValueError(f"invalid duration {text!r}")
        unit = _UNITS[match[3]]
        fraction = match[2] or ""
        nanos += int(match[1] or "0") * unit
        nanos += int(fraction or "0") * unit // 10 ** len(fraction)
        end = match.end()
    nanos = -nanos if text.startswith("-") else nanos
    if end == 0 or not MIN_INT <= nanos <= MAX_INT:
        raise ValueError(f"invalid duration {text!r}")
    return Duration(nanos)


def duration_text(duration: Duration) -> str:
    """Return the text of a duration, in seconds."""
    # Whole seconds and the rest apart: a single division would lose digits of long
    # durations.
    seconds = duration.nanos // NANOS + duration.nanos % NANOS / NANOS
    if duration.nanos < 0:
        seconds = -(-duration.nanos // NANOS + -duration.nanos % NANOS / NANOS)
    text = f"{seconds:.9f}".rstrip("0").rstrip(".")
    return f"{repr(seconds).removesuffix('.0') if 'e' not in repr(seconds) else text}s"


def in_range(nanos: int) -> int:
    """Return nanoseconds since 1970, after a check that the year is 1 to 9999.

    Raises:
        CelEvaluationError: The year is outside these limits.
    """
    if _FIRST <= nanos // NANOS <= _LAST:
        return nanos
    raise CelEvaluationError("timestamp overflow")


def timestamp_of(text: str) -> Timestamp:
    """Parse a timestamp in the format of RFC 3339.

    Raises:
        ValueError: The text is not a timestamp.
        CelEvaluationError: The year is not 1 to 9999.
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError(f"invalid timestamp {text!r}")
    date, clock, fraction, sign, hours, minutes = match.groups()
    if date.startswith("0000"):
        raise CelEvaluationError("timestamp overflow")
    moment = datetime.datetime.strptime(f"{date}T{clock}", "%Y-%m-%dT%H:%M:%S")
    # Python accepts leap seconds, Go does not.
    if moment.second > 59 or len(fraction or "0") < 1:
        raise ValueError(f"invalid timestamp {text!r}")
    offset = 0
    if sign:
        # The bounds of Go's parser, which are looser than real offsets.
        if int(hours) > 24 or int(minutes) > 60:
            raise ValueError(f"invalid timestamp {text!r}")
        offset = (int(hours) * 60 + int(minutes)) * (-60 if sign == "-" else 60)
    since = moment - _EPOCH
    seconds = since.days * 86400 + since.seconds - offset
    nanos = int((fraction or "0")[:9].ljust(9, "0"))
    return Timestamp(in_range(seconds * NANOS + nanos), offset)


def timestamp_text(moment: Timestamp) -> str:
    """Return the text of a timestamp in its own zone, in the format of RFC 3339."""
    at = _datetime(moment.nanos // NANOS + moment.offset)
    fraction = f"{moment.nanos % NANOS:09}".rstrip("0")
    # ``strftime`` does not pad years on all systems.
    text = at.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    text += f".{fraction}" if fraction else ""
    if not moment.offset:
        return f"{text}Z"
    sign = "-" if moment.offset < 0 else "+"
    hours, minutes = divmod(abs(moment.offset) // 60, 60)
    return f"{text}{sign}{hours:02}:{minutes:02}"


def _datetime(seconds: int) -> datetime.datetime:
    try:
        return _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError as error:
        raise CelEvaluationError("timestamp overflow") from error


_OFFSET: Final = re.compile(r"([+-]?[0-9]+):([+-]?[0-9]+)", re.ASCII)


def _in_zone(moment: Timestamp, zone: str) -> datetime.datetime:
    """Return the local time of a zone, which is a name or an offset."""
    seconds = moment.nanos // NANOS
    if ":" in zone:
        match = _OFFSET.fullmatch(zone)
        if match is None:
            raise CelEvaluationError(f"invalid time zone offset {zone!r}")
        hours, minutes = int(match[1]) * 60, int(match[2])
        # By the text and not by the number of hours, as -00:30 has none (cel-go,
        # ``timeZone``).
        offset = hours - minutes if zone.startswith("-") else hours + minutes
        return _datetime(seconds + offset * 60)
    # ``Local`` would depend on the machine; evaluations must not.
    if zone in ("", "UTC", "Local"):
        return _datetime(seconds)
    try:
        zone_info = zoneinfo.ZoneInfo(zone)
    except (OSError, ValueError, KeyError) as error:
        raise CelEvaluationError(f"unknown time zone {zone}") from error
    at = _datetime(seconds).replace(tzinfo=datetime.UTC)
    try:
        return at.astimezone(zone_info)
    except OverflowError as error:
        raise CelEvaluationError("timestamp overflow") from error


_Part = Callable[[datetime.datetime, int], int]
_PARTS: Final[dict[str, tuple[str, _Part]]] = {
    "getFullYear": ("year", lambda at, _: at.year),
    # Months, days of the month and days of the year count from 0, as in JavaScript,
    # except in ``getDate``.
    "getMonth": ("month", lambda at, _: at.month - 1),
    "getDayOfYear": ("day_of_year", lambda at, _: at.timetuple().tm_yday - 1),
    "getDayOfMonth": ("day_of_month", lambda at, _: at.day - 1),
    "getDate": ("day_of_month_1_based", lambda at, _: at.day),
    "getDayOfWeek": ("day_of_week", lambda at, _: at.isoweekday() % 7),
    "getHours": ("hours", lambda at, _: at.hour),
    "getMinutes": ("minutes", lambda at, _: at.minute),
    "getSeconds": ("seconds", lambda at, _: at.second),
    "getMilliseconds": ("milliseconds", lambda _, nanos: nanos % NANOS // 10**6),
}


def _parts() -> Iterator[Overload]:
    for called, (name, part) in _PARTS.items():
        with_zone = "tz" if name == "seconds" else "with_tz"
        yield method(
            f"timestamp_to_{name}",
            f"timestamp.{called}() -> int",
            lambda moment, part=part: part(
                _datetime(moment.nanos // NANOS), moment.nanos
            ),
        )
        yield method(
            f"timestamp_to_{name}_{with_zone}",
            f"timestamp.{called}(string) -> int",
            lambda moment, zone, part=part: part(_in_zone(moment, zone), moment.nanos),
        )
    units = {
        "hours": 3600 * NANOS,
        "minutes": 60 * NANOS,
        "seconds": NANOS,
        "milliseconds": 10**6,
    }
    for name, unit in units.items():
        yield method(
            f"duration_to_{name}",
            f"duration.get{name.capitalize()}() -> int",
            lambda span, unit=unit: (
                span.nanos // unit if span.nanos >= 0 else -(-span.nanos // unit)
            ),
        )


OVERLOADS: Final = tuple(_parts())
