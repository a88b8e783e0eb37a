"""The clock that keeps pace with work and skips waiting."""

import threading

import pytest

from tests.kit.internals.perf import PacedClock


class Stopwatch:
    def __init__(self) -> None:
        self.seconds = 50.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def real() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def clock(real: Stopwatch) -> PacedClock:
    return PacedClock(start=1000.0, tick_seconds=0.5, real=real)


def test_time_passes_with_real_time_in_ticks(
    clock: PacedClock, real: Stopwatch
) -> None:
    real.seconds += 0.25
    clock.keep_pace()
    assert clock.now() == 1000.0
    assert clock.exact() == 1000.25
    real.seconds += 0.5
    clock.keep_pace()
    assert clock.now() == clock.exact() == 1000.75


def test_waiting_jumps_to_the_next_timer_and_is_counted(
    clock: PacedClock, real: Stopwatch
) -> None:
    ran: list[float] = []
    clock.call_later(10, lambda: ran.append(clock.now()))
    real.seconds += 0.25
    assert clock.wait(threading.Event())
    assert clock.run_due() == 1
    assert ran == [1010.0]
    # The quarter of a second was work.
    assert clock.skipped == 9.75
    assert clock.exact() == 1010.0


def test_an_overdue_timer_is_not_a_wait(clock: PacedClock, real: Stopwatch) -> None:
    clock.call_later(1, lambda: None)
    real.seconds += 3
    assert clock.skip()
    assert clock.skipped == 0
    assert clock.now() == 1003.0


def test_a_jump_ends_where_it_has_to(clock: PacedClock) -> None:
    clock.call_later(10, lambda: None)
    assert clock.skip(until=1004.0)
    assert clock.now() == 1004.0
    assert clock.run_due() == 0


def test_without_anything_to_wait_for_there_is_no_jump(clock: PacedClock) -> None:
    assert not clock.skip()
    assert not clock.wait(threading.Event())
    assert clock.skip(until=1001.0)
    assert clock.now() == 1001.0


def test_a_woken_clock_does_not_wait(clock: PacedClock) -> None:
    clock.call_later(10, lambda: None)
    woken = threading.Event()
    woken.set()
    assert clock.wait(woken)
    assert clock.now() == 1000.0
