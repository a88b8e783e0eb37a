"""Reads the schedules and time zones of CronJobs, as the API server does.

Mirrors ``ParseStandard`` of github.com/robfig/cron v3.0.1 (``parser.go``), and
``validateTimeZone`` (Kubernetes v1.37, ``pkg/apis/batch/validation/validation.go``).
"""

import functools
import re
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from quaymaster._core.config.duration import parse_duration

__all__ = ["FieldValues", "is_time_zone", "schedule_problem", "schedule_values"]

# At most 18 digits: Python reads integers of any length, and ``strconv.Atoi`` fails
# beyond 64 bits.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
# ``validTimeZoneCharacters`` of upstream, with its ban on a leading dash. Go may look
# zones up as files, so ``.`` and ``..`` are excluded below.
_ZONE_PART: Final = re.compile(r"(?!-)[A-Za-z._0-9+\-]{1,14}", re.ASCII)
_EVERY: Final = "@every "
_DESCRIPTORS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class _Field(NamedTuple):
    """One of the five fields of a schedule."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS: Final = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 6, _DAYS),
)


def schedule_problem(schedule: str) -> str:
    """Return what is wrong with a schedule; empty if a server accepts it."""
    if schedule.startswith(_EVERY):
        return _every_problem(schedule.removeprefix(_EVERY))
    if schedule.startswith("@"):
        if schedule in _DESCRIPTORS:
            return ""
        return f"expected {', '.join(_DESCRIPTORS)} or @every DURATION"
    texts = schedule.split()
    if len(texts) != len(_FIELDS):
        return f"expected 5 fields, such as 0 3 * * *, not {len(texts)}"
    for text, field in zip(texts, _FIELDS, strict=True):
        # ``getField`` ignores empty parts: ``1,,2`` is valid.
        for part in filter(None, text.split(",")):
            problem = _range_problem(part, field)
            if problem:
                return f"expected a {field.name} with {problem} in {part!r}"
    return ""


def _every_problem(duration: str) -> str:
    if parse_duration(duration) is None:
        return f"expected a duration such as 1h30m after @every, not {duration!r}"
    return ""


class FieldValues(NamedTuple):
    """The values of a field of a schedule.

    Attributes:
        values: The values.
        is_any: Whether it is ``*`` or ``?``, or has one of them as a part.
    """

    values: frozenset[int]
    is_any: bool


def schedule_values(schedule: str) -> tuple[FieldValues, ...]:
    """Return minutes, hours, days of the month, months and days of the week.

    Args:
        schedule: A schedule that has no problem, and does not begin with ``@every``.
    """
    texts = _DESCRIPTORS.get(schedule, schedule).split()
    return tuple(
        _values(text, field) for text, field in zip(texts, _FIELDS, strict=True)
    )


def _values(text: str, field: _Field) -> FieldValues:
    values: set[int] = set()
    is_any = False
    for part in filter(None, text.split(",")):
        bounds, _, step = part.partition("/")
        low, hyphen, high = bounds.partition("-")
        start, end = field.least, field.most
        # ``?`` is the same as ``*`` here. Quartz gives it another meaning, but this
        # library does not.
        if low not in ("*", "?"):
            start = _number(low, field)
            if hyphen:
                end = _number(high, field)
            elif not step:
                end = start
        # ``getRange`` clears the star bit for larger steps, and ``dayMatches`` reads
        # it.
        elif step in ("", "1"):
            is_any = True
        values.update(range(start, end + 1, int(step or 1)))
    return FieldValues(frozenset(values), is_any)


def _range_problem(text: str, field: _Field) -> str:
    """Return what a part of a field should be, such as ``1-5/2``; empty if it is."""
    bounds, *steps = text.split("/")
    low, *highs = bounds.split("-")
    start, end = field.least, field.most
    if low not in ("*", "?"):
        if len(highs) > 1:
            return "one hyphen at most"
        start = _number(low, field)
        end = _number(highs[0], field) if highs else start
    if len(steps) > 1:
        return "one slash at most"
    # ``5/10`` means ``5-59/10``, as in ``getRange``.
    if steps and not highs:
        end = field.most
    if steps and _integer(steps[0]) <= 0:
        return "a step of at least 1"
    if not field.least <= start <= end <= field.most:
        return f"rising numbers from {field.least} to {field.most}"
    return ""


def _number(text: str, field: _Field) -> int:
    """Return the number or name of a field; -1 for others."""
    name = text.lower()
    return (
        field.names.index(name) + field.least if name in field.names else _integer(text)
    )


def _integer(text: str) -> int:
    """Return an integer; -1 for other texts."""
    return int(text) if _INTEGER.fullmatch(text) else -1


def is_time_zone(name: str) -> bool:
    """Return whether a name is an explicit time zone of IANA's.

    A machine without a database of time zones accepts each name of the right form.
    """
    parts = name.split("/")
    if not all(
        _ZONE_PART.fullmatch(part) and part not in (".", "..") for part in parts
    ):
        return False
    return name.lower() != "local" and (_is_in_database(name) or not _has_database())


@functools.lru_cache(maxsize=1)
# Slim containers have no tzdata. Without this probe, each CronJob with a zone would be
# rejected there, and only there.
def _has_database() -> bool:
    return _is_in_database("Europe/Rome")


@functools.lru_cache(maxsize=256)
def _is_in_database(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return False
    return True
