"""Arrivals and run times: their means, their limits, and their streams."""

from datetime import timedelta
from itertools import islice

import numpy as np
import pytest

from tests.kit.internals.scenarios import (
    Bursts,
    Constant,
    Diurnal,
    Empirical,
    Exponential,
    Lognormal,
    Poisson,
    Repeat,
    RunTime,
    Uniform,
    arrivals,
    random_stream,
    run_times,
)

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def times(repeat: Repeat, seed: int = 0) -> list[float]:
    return list(arrivals(repeat, random_stream(seed, "step")))


def drawn(
    run_time: RunTime, number: int, measured: tuple[float, ...] = ()
) -> list[float]:
    return list(islice(run_times(run_time, measured, random_stream(0, "x")), number))


def test_constant_arrivals_begin_at_once_and_end_before_the_end() -> None:
    repeat = Repeat(constant=Constant(every=timedelta(seconds=20)), lasting=MINUTE)
    assert times(repeat) == [0, 20, 40]


def test_the_number_of_times_is_an_end_too() -> None:
    repeat = Repeat(constant=Constant(every=MINUTE), lasting=HOUR, times=2)
    assert times(repeat) == [0, 60]


def test_poisson_arrivals_come_at_their_rate() -> None:
    found = times(Repeat(poisson=Poisson(rate=10), lasting=10 * HOUR))
    assert len(found) == pytest.approx(6000, rel=0.05)
    gaps = np.diff(found)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)
    assert found == sorted(found)


def test_a_burst_comes_in_one_moment_unless_it_is_spread() -> None:
    once = Bursts(size=3, every=MINUTE)
    assert times(Repeat(bursts=once, times=7)) == [0, 0, 0, 60, 60, 60, 120]
    spread = Bursts(size=100, every=MINUTE, spread=timedelta(seconds=90))
    found = times(Repeat(bursts=spread, times=1000))
    assert found == sorted(found)
    assert found[0] > 0


def test_diurnal_arrivals_are_many_at_the_peak_and_few_half_a_period_later() -> None:
    process = Diurnal(low=1, high=30, period=24 * HOUR, peak_at=12 * HOUR)
    found = np.array(times(Repeat(diurnal=process, lasting=24 * HOUR)))
    peak = ((found > 11 * 3600) & (found < 13 * 3600)).sum()
    night = (found < 2 * 3600).sum()
    assert peak == pytest.approx(30 * 120, rel=0.1)
    assert night < peak / 8
    assert len(found) == pytest.approx(15.5 * 24 * 60, rel=0.05)


@pytest.mark.long
def test_run_times_have_their_distribution() -> None:
    number = 20_000
    uniform = drawn(RunTime(uniform=Uniform(low=MINUTE, high=3 * MINUTE)), number)
    assert min(uniform) >= 60
    assert max(uniform) <= 180
    assert np.mean(uniform) == pytest.approx(120, rel=0.02)
    exponential = drawn(RunTime(exponential=Exponential(mean=MINUTE)), number)
    assert np.mean(exponential) == pytest.approx(60, rel=0.05)
    lognormal = drawn(RunTime(lognormal=Lognormal(median=MINUTE, sigma=1.0)), number)
    assert np.median(lognormal) == pytest.approx(60, rel=0.05)
    assert np.std(np.log(lognormal)) == pytest.approx(1.0, rel=0.05)
    empirical = RunTime(empirical=Empirical(file="x"))
    assert set(drawn(empirical, 100, (1.0, 5.0))) == {1.0, 5.0}


def test_run_times_keep_to_their_limits() -> None:
    run_time = RunTime(
        exponential=Exponential(mean=MINUTE),
        at_least=timedelta(seconds=30),
        at_most=timedelta(seconds=90),
    )
    found = drawn(run_time, 1000)
    assert (min(found), max(found)) == (30, 90)


def test_a_stream_is_the_same_each_time_and_another_for_each_name_and_seed() -> None:
    repeat = Repeat(poisson=Poisson(rate=10), times=5)
    assert times(repeat) == times(repeat)
    assert times(repeat, seed=1) != times(repeat)
    other = arrivals(repeat, random_stream(0, "other"))
    assert list(other) != times(repeat)
