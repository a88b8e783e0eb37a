"""Handles Ctrl-C while a command is imported."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["interruptible_import"]

_INTERRUPTED: Final = 130  # 128 and SIGINT, as shells have it


@contextmanager
def interruptible_import() -> Iterator[None]:
    """End the process at once if Ctrl-C comes inside the block.

    Some libraries crash after an exception during their import: msgspec and numpy are
    written in C. A process that ignores SIGINT, and a thread, are left alone.
    """
    is_main = threading.current_thread() == threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) != signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
