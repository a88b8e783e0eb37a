"""Signals that mean something to commands that run for long."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

__all__ = ["interruptible", "on_hangup"]


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT, even in a process that a script started.

    Shells have what they put into the background ignore it.
    """
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


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
