"""When a schedule hits, as the cron library of Kubernetes reckons.

Mirrors ``SpecSchedule.Next`` of github.com/robfig/cron v3.0.1 (``spec.go``).
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from quaymaster._clusters.inmemory.admission.cron_schedules import (
    FieldValues,
    schedule_values,
)

__all__ = ["next_hit"]

_YEARS: Final = 5


def next_hit(schedule: str, after: float) -> float | None:
    """Return the first time of a schedule after a time, in UTC.

    Args:
        schedule: The schedule; it must be valid, and not begin with ``@every``.
        after: The time before, in seconds since the epoch.

    Returns:
        The time, or None if no time within five years matches.
    """
    minutes, hours, days, months, weekdays = schedule_values(schedule)
    # The next whole second, as ``Next`` begins: a schedule that fires now does not fire
    # twice.
    start = datetime.fromtimestamp(int(after) + 1, UTC)
    for day in _days(start):
        if day.month not in months.values or not _is_day(day, days, weekdays):
            continue
        for hour in sorted(hours.values):
            for minute in sorted(minutes.values):
                hit = day.replace(hour=hour, minute=minute)
                if hit >= start:
                    return hit.timestamp()
    return None


def _days(start: datetime) -> Iterator[datetime]:
    """Yield midnights from the day of a time on."""
    day = start.replace(hour=0, minute=0, second=0, microsecond=0)
    # Upstream gives up after five years, too: the 30th of February never comes.
    while day.year <= start.year + _YEARS:
        yield day
        day += timedelta(days=1)


def _is_day(day: datetime, days: FieldValues, weekdays: FieldValues) -> bool:
    """Return whether a day is one of a schedule.

    If both fields name days, one of them is enough.
    """
    is_day = day.day in days.values
    is_weekday = day.isoweekday() % 7 in weekdays.values
    # The rule of crontab: ``0 0 13 * 5`` is each 13th and each Friday only while
    # neither field is a star. With a star, the other field alone decides.
    if days.is_any or weekdays.is_any:
        return is_day and is_weekday
    return is_day or is_weekday
