"""Distributions of the run times of pods."""

import math
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

import attrs
import numpy as np

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import duration, non_empty, number

__all__ = [
    "Empirical",
    "Exponential",
    "Lognormal",
    "RunTime",
    "Uniform",
    "run_times",
]

_NOTHING: Final = timedelta()
_some_time: Final = duration(timedelta(microseconds=1))
_LONGEST: Final = 9e9
"""About 285 years, which the simulated kubelet still accepts."""


@attrs.frozen(kw_only=True)
class Uniform:
    """Run times that are equally likely between two limits.

    Attributes:
        low: The shortest.
        high: The longest.
    """

    low: timedelta = attrs.field(validator=duration(_NOTHING))
    high: timedelta = attrs.field(validator=duration(_NOTHING))

    def validate(self) -> Iterator[ArgsError]:
        """Check that the limits are in order."""
        if self.low > self.high:
            yield ArgsError("low", "expected at most high")


@attrs.frozen(kw_only=True)
class Exponential:
    """Run times that are exponentially distributed.

    Attributes:
        mean: The mean.
    """

    mean: timedelta = attrs.field(validator=_some_time)


@attrs.frozen(kw_only=True)
class Lognormal:
    """Run times whose logarithm is normally distributed: most short, a few very long.

    Attributes:
        median: Half of them are shorter.
        sigma: The standard deviation of the logarithm; 1 makes the longest 16 % last
            more than 2.7 times the median.
    """

    median: timedelta = attrs.field(validator=_some_time)
    sigma: float = attrs.field(validator=number(0, 20))


@attrs.frozen(kw_only=True)
class Empirical:
    """Run times drawn from measured ones, all with equal probability.

    Attributes:
        file: A text file with one run time on each line, as seconds or as a duration
            such as 1m30s; text after # is ignored. The path is relative to the
            scenario.
    """

    file: str = attrs.field(validator=non_empty())


@attrs.frozen(kw_only=True)
class RunTime:
    """How long pods run: one distribution.

    Attributes:
        constant: The same run time for all.
        uniform: Equally likely between two limits.
        exponential: Exponentially distributed.
        lognormal: Log-normally distributed.
        empirical: Drawn from a file.
        at_least: The minimum; shorter run times are raised to it.
        at_most: The maximum; longer run times are cut to it.
    """

    constant: timedelta | None = attrs.field(default=None, validator=duration(_NOTHING))
    uniform: Uniform | None = None
    exponential: Exponential | None = None
    lognormal: Lognormal | None = None
    empirical: Empirical | None = None
    at_least: timedelta | None = attrs.field(default=None, validator=duration(_NOTHING))
    at_most: timedelta | None = attrs.field(default=None, validator=duration(_NOTHING))

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is one distribution, and that the limits are in order."""
        kinds = ("constant", "uniform", "exponential", "lognormal", "empirical")
        if sum(getattr(self, kind) is not None for kind in kinds) != 1:
            yield ArgsError("", f"expected one of {', '.join(kinds)}")
        low, high = self.at_least, self.at_most
        if low is not None and high is not None and low > high:
            yield ArgsError("atLeast", "expected at most atMost")


def run_times(
    run_time: RunTime, measured: Sequence[float], stream: np.random.Generator
) -> Iterator[float]:
    """Draw run times without end, in seconds.

    Args:
        run_time: Their distribution.
        measured: The measured run times of an empirical one, in seconds.
        stream: The random stream.
    """
    low = 0.0 if run_time.at_least is None else run_time.at_least.total_seconds()
    high = math.inf if run_time.at_most is None else run_time.at_most.total_seconds()
    while True:
        drawn = _drawn(run_time, measured, stream)
        yield round(min(max(drawn, low), high, _LONGEST), 6)


def _drawn(
    run_time: RunTime, measured: Sequence[float], stream: np.random.Generator
) -> float:
    if run_time.constant is not None:
        return run_time.constant.total_seconds()
    if (uniform := run_time.uniform) is not None:
        low, high = uniform.low.total_seconds(), uniform.high.total_seconds()
        return float(stream.uniform(low, high))
    if run_time.exponential is not None:
        return float(stream.exponential(run_time.exponential.mean.total_seconds()))
    if (lognormal := run_time.lognormal) is not None:
        median = lognormal.median.total_seconds()
        return float(stream.lognormal(math.log(median), lognormal.sigma))
    return measured[int(stream.integers(len(measured)))]
