"""The engine's end of the watch that the I/O process keeps over its process."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Final

from quaymaster._clusters.driver.attempt_board import AttemptBoard
from quaymaster._clusters.driver.engine_stack import StackWriter
from quaymaster._clusters.driver.frames import Watched

__all__ = ["EngineWatch"]

_STOPPING: Final = frozenset({signal.SIGINT, signal.SIGTERM})
_REPORT_SECONDS: Final = 5.0
_GRACE_SECONDS: Final = 25.0
"""Of the 30 s that a kubelet gives by default. Stopping in order takes 20 s at most
until the last writes, which then have 8 s."""


class EngineWatch:
    """What the I/O process inherits to watch this one.

    Args:
        on_finished: Called with the uid of a pod that stopped an earlier scheduler,
            when an attempt of it has ended.
        report_seconds: An attempt that takes longer is reported.
        grace_seconds: How long this process may take to stop, before it is killed.

    Attributes:
        board: Shows what the engine does.
        receiver: Receives the numbers of signals.
        sender: The socket for ``signal.set_wakeup_fd``. Its end in C works even if this
            process cannot run Python, and then the I/O process sees the signal.
    """

    def __init__(
        self,
        on_finished: Callable[[str], None],
        *,
        report_seconds: float = _REPORT_SECONDS,
        grace_seconds: float = _GRACE_SECONDS,
    ) -> None:
        self.board = AttemptBoard(on_finished)
        self.receiver, self.sender = socket.socketpair()
        self.sender.setblocking(False)  # else a signal could block
        self._stacks = StackWriter()
        self._seconds = report_seconds, grace_seconds
        self._close = threading.Lock()
        self._is_closed = False

    @property
    def message(self) -> Watched:
        """What the I/O process must know."""
        return Watched(
            os.getpid(),
            self.board.descriptor,
            self._stacks.descriptor,
            self.receiver.fileno(),
            *self._seconds,
        )

    @property
    def inherited(self) -> Sequence[int]:
        """The descriptors that the I/O process inherits."""
        message = self.message
        return message.board, message.stacks, message.signals

    @staticmethod
    def requests_stop(signals: bytes) -> bool:
        """Return whether one of these signals requests the process to stop."""
        return not _STOPPING.isdisjoint(signals)

    def close(self) -> None:
        """Close everything once, after the I/O process has ended."""
        with self._close:
            if self._is_closed:
                return
            self._is_closed = True
        self._stacks.close()
        self.board.close()
        self.receiver.close()
        self.sender.close()
