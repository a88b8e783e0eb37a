"""Runs the background tasks of plugins while an extender answers requests."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, TypeVar

from quaymaster._core.binding.executor import Post, run_and_post

__all__ = ["BackgroundExecutor"]

T = TypeVar("T")

# The same as in `WorkerExecutor`: tasks wait for a server and need little CPU.
_WORKERS: Final = 16


class BackgroundExecutor:
    """Runs tasks on a few threads, which do not keep the process alive.

    A process waits for the threads of a ``concurrent.futures`` pool at its end, so a
    metrics server that does not answer would keep it alive.

    Args:
        post: Puts a call into the engine's inbox, from any thread.
    """

    def __init__(self, post: Post) -> None:
        self._post = post
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._free = threading.Semaphore(0)

    def submit(
        self,
        task: Callable[[], T],
        done: Callable[[T], None],
        *,
        blocks: bool = True,  # noqa: ARG002 - all tasks run alike
    ) -> None:
        """Queue the task; its result is posted to the inbox."""
        self._tasks.put(lambda: run_and_post(self._post, task, done))
        if not self._free.acquire(blocking=False) and len(self._threads) < _WORKERS:
            thread = threading.Thread(target=self._work, name="background", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Do nothing: running tasks are abandoned."""

    def _work(self) -> None:
        while True:
            self._tasks.get()()
            self._free.release()
