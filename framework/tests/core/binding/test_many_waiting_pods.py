"""Ten thousand pods that wait on Permit cost memory only.

Work is counted in calls of functions, Python's own included, never in time.
"""

import sys
import threading
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import ClassVar

import pytest

from quaymaster import Handle, PermitWait, Status, hookimpl
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.engine import scheduler_of
from tests.kit.internals.binding import WaitingPods

MANY, FEW = 10_000, 1_000
BYTES_PER_POD = 2_000


class Waits:
    """Makes every pod wait for ten minutes."""

    handle: ClassVar[Handle]

    def __init__(self, args: object, handle: Handle) -> None:
        type(self).handle = handle

    @hookimpl
    def permit(self) -> PermitWait:
        return PermitWait(600.0)


def waiting(count: int) -> SchedulerHarness:
    plugins = ("PrioritySort", "DefaultBinder", "Waits")
    names = [{"name": name} for name in plugins]
    multi_point = {"disabled": [{"name": "*"}], "enabled": names}
    harness = SchedulerHarness(
        [make_node(name="a"), *(make_pod(name=f"p{n}") for n in range(count))],
        plugins={"Waits": Waits},
        config={
            **HEADER,
            "profiles": [{"plugins": {"multiPoint": multi_point}}],
        },
    )
    while harness.schedule_one():
        pass
    assert len(harness.waiting_pods()) == count
    return harness


def calls(function: Callable[[], object]) -> int:
    """Count the function calls of an action."""
    found = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return found


def allow_all() -> None:
    for pod in Waits.handle.waiting_pods():
        pod.allow("Waits")


@pytest.mark.long
def test_waiting_pods_hold_no_thread_and_are_not_searched() -> None:
    threads = threading.active_count()
    few, many = waiting(FEW), waiting(MANY)
    assert threading.active_count() == threads
    # A turn with nothing to do, a timer that is not due, one pod by its uid.
    assert calls(many.schedule_one) <= calls(few.schedule_one) + 2
    assert calls(many.clock.run_due) <= calls(few.clock.run_due) + 2
    assert calls(many.clock.next_due) <= calls(few.clock.next_due) + 2
    some, more = (
        calls(partial(scheduler_of(harness).waiting.get, "x"))
        for harness in (few, many)
    )
    assert more == some


@pytest.mark.long
def test_allowing_all_waiting_pods_costs_a_fixed_amount_per_pod() -> None:
    harness = waiting(FEW)
    assert len(list(Waits.handle.waiting_pods())) == FEW
    per_pod = calls(lambda: [held.pod for held in Waits.handle.waiting_pods()]) / FEW
    assert per_pod < 2
    # The engine gets a message per pod and releases it: there is no search.
    assert calls(allow_all) < 20 * FEW
    harness.settle()
    assert harness.waiting_pods() == []
    assert harness.node_of("p0") == "a"


@pytest.mark.long
def test_memory_per_waiting_pod() -> None:
    clock = VirtualClock()
    held = WaitingPods(clock, lambda call: call())
    pods = [make_pod(name=f"p{n}") for n in range(MANY)]
    ended: list[Status | None] = []
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for pod in pods:
            held.add(pod, {"A": 600.0, "B": 60.0}, ended.append)
        used = (tracemalloc.get_traced_memory()[0] - before) / MANY
        for entry in held:
            entry.allow("A")
            entry.allow("B")
        left = (tracemalloc.get_traced_memory()[0] - before) / MANY
    finally:
        tracemalloc.stop()
    assert ended == [None] * MANY
    figures = f"{used:.0f} bytes per pod that waits for two plugins, then {left:.0f}"
    sys.stdout.write(figures)
    assert used < BYTES_PER_POD
    assert left < 100, "timers that were cancelled are gone"


def test_cancelled_timers_leave_the_order_of_others_alone() -> None:
    clock = VirtualClock()
    fired: list[int] = []
    timers = [
        clock.call_later(1.0 + n % 7, partial(fired.append, n)) for n in range(1000)
    ]
    for n, timer in enumerate(timers):
        if n % 10:
            timer.cancel()
            timer.cancel()
    assert clock.has_foreground_timers
    clock.advance(100.0)
    assert fired == sorted(range(0, 1000, 10), key=lambda n: (n % 7, n))
    assert not clock.has_foreground_timers
    assert clock.next_due() is None
