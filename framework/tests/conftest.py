"""What several test files need."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let processes that a test starts hear of Ctrl-C.

    A process that was put into the background may have been told to ignore it, and
    passes that on.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
