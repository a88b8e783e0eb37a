"""Handles signals for long-running commands."""

import os
import select
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from queue import SimpleQueue
from typing import Final

__all__ = ["interruptible", "on_hangup", "on_signal", "stopping", "waking"]

_OVER: Final = bytes(1)  # the number of no signal


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, in every environment.

    Processes in a shell's background ignore SIGINT, and the first process of a
    container ignores both, unless they handle them.
    """
    signals = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, _interrupt) for number in signals}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def stopping(
    stop: Callable[[], None], leave: Callable[[], object] = lambda: os._exit(1)
) -> Iterator[None]:
    """Stop in order on the first SIGINT or SIGTERM, and exit at once on the second.

    Args:
        stop: Called by the handler of the first signal; it must take no lock that the
            main thread may hold.
        leave: Called by the handler of the others.
    """
    signals = (signal.SIGINT, signal.SIGTERM)
    came: list[int] = []

    def handle(number: int, _frame: object) -> None:
        came.append(number)
        if len(came) == 1:
            stop()
        else:
            leave()

    previous = {signum: signal.signal(signum, handle) for signum in signals}
    try:
        yield
    finally:
        for signum, handler in previous.items():
            signal.signal(signum, handler)


def on_hangup(call: Callable[[], None]) -> AbstractContextManager[None]:
    """Call a function whenever SIGHUP arrives; see `on_signal`."""
    return on_signal("SIGHUP", call)


@contextmanager
def on_signal(name: str, call: Callable[[], None]) -> Iterator[None]:
    """Call a function on a separate thread whenever a signal arrives.

    The handler must take no lock, since the main thread may hold it. So it only adds an
    item to a queue that signal handlers may use.

    Args:
        name: The name of the signal; on a system that has no such signal, nothing is
            done.
        call: May be called from any thread.
    """
    number = getattr(signal, name, None)
    if number is None:  # as on Windows
        yield
        return
    notes: SimpleQueue[bool] = SimpleQueue()

    def work() -> None:
        while notes.get():
            call()

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    previous = signal.signal(number, lambda *_: notes.put(True))
    try:
        yield
    finally:
        signal.signal(number, previous)
        notes.put(False)
        thread.join()


@contextmanager
def waking(
    call: Callable[[], None],
    *,
    channel: tuple[socket.socket, socket.socket] | None = None,
    note: Callable[[bytes], object] = lambda _numbers: None,
) -> Iterator[None]:
    """Call a function on a separate thread whenever a signal arrives.

    Python handles signals on the main thread, between two of its instructions. A signal
    that arrives just when that thread begins to wait is handled once the wait is over
    (measured: on a busy machine, one in five that came with an answer), so the function
    is to end the wait.

    Args:
        call: May be called from any thread.
        channel: The receiver and the sender of the signals' numbers, if another process
            reads them as well; they are left open.
        note: Called before with the numbers of signals, on the same thread.
    """
    receiver, sender = socket.socketpair() if channel is None else channel
    sender.setblocking(False)  # else a signal could block

    def work() -> None:
        # Numbers are read once this thread runs: if the interpreter's lock is never
        # released, they stay there for the other process.
        while True:
            select.select([receiver], [], [])
            numbers = receiver.recv(64)
            if numbers.endswith(_OVER):
                return
            note(numbers)
            call()

    thread = threading.Thread(target=work, name="signals", daemon=True)
    thread.start()
    previous = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        sender.send(_OVER)
        thread.join()
        if channel is None:
            sender.close()
            receiver.close()
