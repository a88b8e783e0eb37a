"""Arrival processes: the times of a repeated step."""

import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

import attrs
import numpy as np

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import duration, integer, number

__all__ = [
    "Bursts",
    "Constant",
    "Diurnal",
    "Poisson",
    "Repeat",
    "arrivals",
]

_NOTHING: Final = timedelta()
_TINY: Final = timedelta(microseconds=1)
_DAY: Final = timedelta(days=1)
_some_time: Final = duration(_TINY)
_a_rate: Final = number(1e-9)


@attrs.frozen(kw_only=True)
class Constant:
    """Arrivals at equal distances; the first one comes at once.

    Attributes:
        every: How far apart they are.
    """

    every: timedelta = attrs.field(validator=_some_time)


@attrs.frozen(kw_only=True)
class Poisson:
    """Independent arrivals: a Poisson process.

    Attributes:
        rate: The average number of arrivals in the time `per`.
        per: The unit of time of the rate.
    """

    rate: float = attrs.field(validator=_a_rate)
    per: timedelta = attrs.field(default=timedelta(minutes=1), validator=_some_time)


@attrs.frozen(kw_only=True)
class Bursts:
    """Arrivals in bursts; the first burst starts at once.

    Attributes:
        size: The number of arrivals in a burst.
        every: The time between the starts of two bursts.
        spread: The duration of a burst, over which its arrivals are distributed evenly
            at random; by default all arrive at the same moment.
    """

    size: int = attrs.field(validator=integer(1, 1_000_000))
    every: timedelta = attrs.field(validator=_some_time)
    spread: timedelta = attrs.field(default=_NOTHING, validator=duration(_NOTHING))


@attrs.frozen(kw_only=True)
class Diurnal:
    """A Poisson process whose rate follows a sine wave, such as the load of a day.

    Attributes:
        low: The lowest rate: the average number of arrivals in the time `per`.
        high: The highest rate.
        per: The unit of time of the rates.
        period: The time from one highest rate to the next.
        peak_at: When the rate is highest, after the start of the step.
    """

    low: float = attrs.field(validator=number(0))
    high: float = attrs.field(validator=_a_rate)
    per: timedelta = attrs.field(default=timedelta(minutes=1), validator=_some_time)
    period: timedelta = attrs.field(default=_DAY, validator=_some_time)
    peak_at: timedelta = attrs.field(default=_DAY / 2, validator=duration(_NOTHING))

    def validate(self) -> Iterator[ArgsError]:
        """Check that the rates are in order."""
        if self.low > self.high:
            yield ArgsError("low", f"expected at most high ({self.high:g})")


@attrs.frozen(kw_only=True)
class Repeat:
    """Repeats a step. It needs one process, and an end.

    Attributes:
        constant: At equal distances.
        poisson: As a Poisson process.
        bursts: Many at once, repeatedly.
        diurnal: As a Poisson process whose rate goes up and down.
        times: How often it happens at most.
        lasting: For how long; the end of that time is excluded.
    """

    constant: Constant | None = None
    poisson: Poisson | None = None
    bursts: Bursts | None = None
    diurnal: Diurnal | None = None
    times: int | None = attrs.field(default=None, validator=integer(1, 10_000_000))
    lasting: timedelta | None = attrs.field(
        default=None, validator=_some_time, metadata={"key": "for"}
    )

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is one process, and an end."""
        processes = [self.constant, self.poisson, self.bursts, self.diurnal]
        if sum(process is not None for process in processes) != 1:
            yield ArgsError("", "expected one of constant, poisson, bursts, diurnal")
        if self.times is None and self.lasting is None:
            yield ArgsError("", "expected an end: times, for, or both")


def arrivals(repeat: Repeat, stream: np.random.Generator) -> Iterator[float]:
    """Yield the times of a step, in seconds after its own time, ascending."""
    end = math.inf if repeat.lasting is None else repeat.lasting.total_seconds()
    most = math.inf if repeat.times is None else repeat.times
    for number_, time in enumerate(_endless(repeat, stream)):
        if number_ >= most or time >= end:
            return
        # Microseconds, like all times of results.
        yield round(time, 6)


def _endless(repeat: Repeat, stream: np.random.Generator) -> Iterator[float]:
    if repeat.constant is not None:
        return _constant(repeat.constant)
    if repeat.bursts is not None:
        return _bursts(repeat.bursts, stream)
    if repeat.diurnal is not None:
        return _diurnal(repeat.diurnal, stream)
    assert repeat.poisson is not None  # as validated
    return _poisson(repeat.poisson.per.total_seconds() / repeat.poisson.rate, stream)


def _constant(process: Constant) -> Iterator[float]:
    every, turn = process.every.total_seconds(), 0
    while True:
        # Not a running sum, which would gather rounding errors.
        yield turn * every
        turn += 1


def _poisson(mean_gap: float, stream: np.random.Generator) -> Iterator[float]:
    time = 0.0
    while True:
        time += stream.exponential(mean_gap)
        yield time


def _bursts(process: Bursts, stream: np.random.Generator) -> Iterator[float]:
    every, spread = process.every.total_seconds(), process.spread.total_seconds()
    waiting: list[float] = []
    for begin in _constant(Constant(every=process.every)):
        drawn = stream.uniform(0.0, spread, process.size) if spread else None
        offsets = [0.0] * process.size if drawn is None else drawn.tolist()
        waiting = sorted([*waiting, *(begin + offset for offset in offsets)])
        # A burst may last longer than the interval. Its last arrivals come among those
        # of the next one.
        due = [time for time in waiting if time < begin + every]
        waiting = waiting[len(due) :]
        yield from due


def _diurnal(process: Diurnal, stream: np.random.Generator) -> Iterator[float]:
    """Draw at the highest rate, and keep each arrival with its rate's probability."""
    per, period = process.per.total_seconds(), process.period.total_seconds()
    peak = process.peak_at.total_seconds()
    middle, swing = (process.high + process.low) / 2, (process.high - process.low) / 2
    for time in _poisson(per / process.high, stream):
        rate = middle + swing * math.cos(2 * math.pi * (time - peak) / period)
        # Thinning (Lewis and Shedler): exact for any rate below the highest one,
        # without an integral.
        if stream.random() * process.high < rate:
            yield time
