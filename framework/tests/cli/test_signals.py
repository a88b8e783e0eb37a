"""Signals that arrive just when the main thread begins to wait."""

import signal
import threading
from collections.abc import Iterator

import pytest

from tests.kit.internals.cli import stopping, waking

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="only Unix has signals of threads"
)


@pytest.fixture
def handled() -> Iterator[list[int]]:
    numbers: list[int] = []
    previous = signal.signal(signal.SIGUSR1, lambda number, _: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGUSR1, previous)


def test_a_signal_that_does_not_interrupt_the_main_thread_ends_its_wait(
    handled: list[int],
) -> None:
    turn = threading.Condition()

    def signal_myself() -> None:
        with turn:  # only once the main thread waits
            signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    def wake() -> None:
        with turn:
            turn.notify()

    thread = threading.Thread(target=signal_myself)
    with waking(wake), turn:
        thread.start()
        assert turn.wait(60)
    thread.join()
    assert handled == [signal.SIGUSR1]


def test_no_wakeup_is_sent_afterwards() -> None:
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    with waking(lambda: None):
        pass
    after = signal.set_wakeup_fd(before)
    assert after == before
    assert "signals" not in {thread.name for thread in threading.enumerate()}


def test_the_first_signal_stops_and_the_second_leaves_at_once() -> None:
    calls: list[str] = []
    before = signal.getsignal(signal.SIGTERM)
    with stopping(lambda: calls.append("stop"), lambda: calls.append("leave")):
        signal.raise_signal(signal.SIGTERM)
        assert calls == ["stop"]
        signal.raise_signal(signal.SIGINT)
        assert calls == ["stop", "leave"]
    assert signal.getsignal(signal.SIGTERM) == before
