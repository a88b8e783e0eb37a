"""The inbox wakes the engine for every message."""

import threading
from functools import partial

import pytest

from quaymaster.scheduler import RealClock, VirtualClock
from tests.kit.internals.engine import Inbox

HOUR = 3600.0


class Napping(VirtualClock):
    """A clock during whose `wait` something happens."""

    def __init__(self, inbox: Inbox) -> None:
        super().__init__()
        self.inbox = inbox
        self.was_woken = False

    def wait(self, woken: threading.Event) -> bool:
        assert not woken.is_set()
        self.inbox.notify()
        self.was_woken = woken.is_set()
        return super().wait(woken)


def test_what_came_before_the_wait_ends_it_at_once() -> None:
    inbox, clock = Inbox(), VirtualClock()
    clock.call_later(HOUR, lambda: None)
    start = clock.now()
    inbox.notify()
    assert inbox.wait(clock)
    assert clock.now() == start


def test_what_comes_during_the_wait_ends_it() -> None:
    inbox = Inbox()
    clock = Napping(inbox)
    assert inbox.wait(clock)
    assert clock.was_woken


def test_what_was_drained_does_not_end_the_next_wait() -> None:
    inbox, clock = Inbox(), VirtualClock()
    ran: list[str] = []
    inbox.post(lambda: ran.append("call"))
    assert inbox.wait(clock)
    assert inbox.drain()
    assert ran == ["call"]
    assert not inbox.has_work
    assert not inbox.wait(clock)


def test_a_call_that_posts_another_has_it_run_as_well() -> None:
    inbox = Inbox()
    ran: list[str] = []
    inbox.post(lambda: inbox.post(lambda: ran.append("second")))
    assert inbox.drain()
    assert ran == ["second"]


@pytest.mark.parametrize("threads", [1, 4])
def test_no_call_of_other_threads_is_missed(threads: int) -> None:
    inbox, clock = Inbox(), RealClock()
    count = 50
    ran: list[int] = []
    answered = threading.Semaphore(0)

    def take(number: int) -> None:
        ran.append(number)
        answered.release()

    def post() -> None:
        for number in range(count):
            inbox.post(partial(take, number))
            answered.acquire()

    workers = [threading.Thread(target=post) for _ in range(threads)]
    for worker in workers:
        worker.start()
    # No timer would end a wait: one lost call, and this hangs.
    while len(ran) < threads * count:
        if not inbox.drain():
            inbox.wait(clock)
    for worker in workers:
        worker.join()
    assert sorted(ran) == sorted(list(range(count)) * threads)
