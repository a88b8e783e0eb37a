"""All requests that wait for the server continue once it is back."""

import threading
from itertools import count

from tests.kit.internals.driver import Wakeup


def test_all_waits_end_on_a_wakeup() -> None:
    hours = count(step=3600)
    wakeup = Wakeup(lambda: next(hours))
    threads = [threading.Thread(target=wakeup.wait, args=(60.0,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        wakeup.wake_all()  # again: they may not have begun to wait
        threads[0].join(0.001)


def test_a_wait_ends_by_itself() -> None:
    Wakeup().wait(0.001)


def test_a_wakeup_comes_once_in_ten_seconds() -> None:
    moments = iter([100.0, 105.0, 110.0])
    wakeup = Wakeup(lambda: next(moments))
    rung = []
    for _ in range(3):
        before = wakeup.count
        wakeup.wake_all()
        rung.append(wakeup.count - before)
    assert rung == [1, 0, 1]
