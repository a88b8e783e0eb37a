"""Gives a process another date, so that readings of the wall clock show."""

import datetime
import time
from collections.abc import Mapping
from datetime import UTC, date, tzinfo
from datetime import datetime as real_datetime
from typing import Any, Final

__all__ = ["begin_at"]


def begin_at(seconds: float) -> None:
    """Let the wall clock of this process go on from another time.

    Modules that are imported later read it, by the module `time` and by `datetime`.

    Args:
        seconds: The time, in seconds since the epoch.
    """
    offset = seconds - time.time()
    read, read_ns, read_clock = time.time, time.time_ns, time.clock_gettime
    changed: Mapping[str, object] = {
        "time": lambda: read() + offset,
        "time_ns": lambda: read_ns() + int(offset * _NANOSECONDS),
        "clock_gettime": lambda clock: (
            read_clock(clock) + (offset if clock == time.CLOCK_REALTIME else 0)
        ),
        **{
            name: _with_default(getattr(time, name))
            for name in ("localtime", "gmtime", "ctime")
        },
        "strftime": _with_default_tuple(time.strftime, 1),
        "asctime": _with_default_tuple(time.asctime, 0),
    }
    vars(time).update(changed)
    vars(datetime).update(datetime=_Datetime, date=_Date)


def _with_default(function: Any) -> object:  # noqa: ANN401 - of the module time
    """Return a function that converts seconds, by default the present ones."""

    def convert(seconds: float | None = None) -> object:
        return function(time.time() if seconds is None else seconds)

    return convert


def _with_default_tuple(function: Any, position: int) -> object:  # noqa: ANN401 - as above
    """Return a function that formats a local time, by default the present one."""

    def format_time(*args: object) -> object:
        args = args if len(args) > position else (*args, time.localtime())
        return function(*args)

    return format_time


_NANOSECONDS: Final = 1_000_000_000


# Classes of C cannot be changed, so these take their places. The metaclass lets objects
# that other modules have made pass `isinstance`.
class _LikeDate(type):
    """The type of a class that accepts all dates as its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, date)


class _LikeDatetime(type):
    """The type of a class that accepts all times as its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, real_datetime)


class _Date(date, metaclass=_LikeDate):
    """A date; inherits `today`, which reads the module `time`."""


class _Datetime(real_datetime, metaclass=_LikeDatetime):
    """A time whose constructors read the module `time`."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "_Datetime":
        """Return the present time."""
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def today(cls) -> "_Datetime":
        """Return the present local time."""
        return cls.now()

    @classmethod
    def utcnow(cls) -> "_Datetime":
        """Return the present time in UTC, without a zone."""
        return cls.now(UTC).replace(tzinfo=None)
