"""Time and timers, as the engine uses them."""

import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from quaymaster.objects import Time
from quaymaster.scheduler import RealClock, VirtualClock


def test_virtual_time_does_not_move_until_a_wait() -> None:
    clock = VirtualClock(start=100.0)
    clock.call_later(5.0, lambda: None)
    assert clock.now() == 100.0
    assert clock.wait(threading.Event())
    assert clock.now() == 105.0


def test_waiting_is_pointless_without_timers() -> None:
    assert not VirtualClock().wait(threading.Event())


def test_wait_does_not_advance_time_if_a_message_has_arrived() -> None:
    clock = VirtualClock(start=0.0)
    clock.call_later(5.0, lambda: None)
    woken = threading.Event()
    woken.set()
    assert clock.wait(woken)
    assert clock.now() == 0.0


def test_timers_run_by_due_time_and_then_by_age() -> None:
    clock = VirtualClock(start=0.0)
    ran: list[str] = []
    clock.call_at(2.0, lambda: ran.append("late"))
    clock.call_at(1.0, lambda: ran.append("early, first made"))
    clock.call_at(1.0, lambda: ran.append("early, made later"))
    clock.advance(3.0)
    assert ran == ["early, first made", "early, made later", "late"]
    assert clock.now() == 3.0


def test_advance_runs_each_timer_at_its_own_time() -> None:
    clock = VirtualClock(start=0.0)
    seen: list[float] = []
    for due in (1.0, 2.5):
        clock.call_at(due, lambda: seen.append(clock.now()))
    clock.advance(10.0)
    assert seen == [1.0, 2.5]


def test_cancelled_timer_never_runs() -> None:
    clock = VirtualClock(start=0.0)
    ran: list[int] = []
    timer = clock.call_later(1.0, lambda: ran.append(1))
    timer.cancel()
    timer.cancel()
    clock.advance(2.0)
    assert not ran
    assert not clock.has_foreground_timers


def test_timer_may_set_the_next_one() -> None:
    clock = VirtualClock(start=0.0)
    ran: list[float] = []

    def tick() -> None:
        ran.append(clock.now())
        if len(ran) < 3:
            clock.call_later(1.0, tick)

    clock.call_later(1.0, tick)
    clock.advance(10.0)
    assert ran == [1.0, 2.0, 3.0]


def test_housekeeping_does_not_count_as_work() -> None:
    clock = VirtualClock(start=0.0)
    clock.call_later(1.0, lambda: None, background=True)
    assert not clock.has_foreground_timers
    clock.call_later(1.0, lambda: None)
    assert clock.has_foreground_timers
    clock.advance(1.0)
    assert not clock.has_foreground_timers


def test_timers_of_a_moment_can_be_held_back_and_released_one_by_one() -> None:
    clock = VirtualClock(start=0.0)
    ran: list[str] = []
    for name in ("first", "second", "third"):
        clock.call_at(5.0, partial(ran.append, name))
    cancelled = clock.call_at(5.0, lambda: ran.append("cancelled"))
    release = clock.move_ahead_of(5.0)
    cancelled.cancel()
    clock.call_later(0.0, lambda: ran.append("new"))
    clock.run_due()
    assert (clock.now(), ran) == (5.0, ["new"])
    while release():
        ran.append("released")
        clock.run_due()
    assert ran[1:] == [
        word for name in ("first", "second", "third") for word in ("released", name)
    ]
    assert clock.next_due() is None


def test_real_clock_runs_what_is_due() -> None:
    clock = RealClock()
    ran: list[int] = []
    clock.call_at(clock.now() - 1.0, lambda: ran.append(1))
    assert clock.wait(threading.Event())
    assert clock.run_due() == 1
    assert ran == [1]


def wait_for_a_timer(due: float) -> VirtualClock:
    clock = VirtualClock(start=0.0)
    clock.call_at(due, lambda: None)
    clock.wait(threading.Event())
    return clock


def advance_to_a_timer(due: float) -> VirtualClock:
    clock = VirtualClock(start=0.0)
    clock.call_at(due, clock.call_later(1.0, lambda: None).cancel)
    clock.advance(due)
    return clock


def advance(seconds: float) -> VirtualClock:
    clock = VirtualClock(start=0.0)
    clock.advance(seconds)
    return clock


@pytest.mark.parametrize(
    "five", [5, Time(5.0), np.float64(5.0)], ids=["whole", "Time", "NumPy"]
)
@pytest.mark.parametrize(
    "reach", [VirtualClock, wait_for_a_timer, advance_to_a_timer, advance]
)
def test_virtual_time_is_a_float_whatever_number_it_started_from(
    reach: Callable[[float], VirtualClock], five: float
) -> None:
    clock = reach(five)
    assert type(clock.now()) is float
    assert clock.now() == 5.0
