"""Signals that mean something to commands that run for long."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

__all__ = ["interruptible", "on_hangup"]


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, whoever started the process.

    Shells have what they put into the background ignore the one, and the first process
    of a container ignores both unless it handles them.
    """
    signals = (signal.SIGINT, signal.SIGTERM)
    previous = {one: signal.signal(one, _interrupt) for one in signals}
    try:
        yield
    finally:
        for one, handler in previous.items():
            signal.signal(one, handler)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def on_hangup(call: Callable[[], None]) -> Iterator[None]:
    """Have a function called, on a thread of its own, whenever SIGHUP arrives.

    A signal may come while the main thread holds any lock, so its handler must take
    none: it leaves a note in a queue that is made for that.

    Args:
        call: May be called from any thread.
    """
    if not hasattr(signal, "SIGHUP"):  # as on Windows
        yield
        return
    hangups: SimpleQueue[bool] = SimpleQueue()

    def work() -> None:
        while hangups.get():
            call()

    thread = threading.Thread(target=work, name="hangups", daemon=True)
    thread.start()
    previous = signal.signal(signal.SIGHUP, lambda *_: hangups.put(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, previous)
        hangups.put(False)
        thread.join()
