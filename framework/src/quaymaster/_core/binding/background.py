"""Runs the background work of plugins while requests are answered."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, TypeVar

from quaymaster._core.binding.executor import Post, run_and_post

__all__ = ["BackgroundExecutor"]

T = TypeVar("T")

# As many as `WorkerExecutor` has: tasks wait for a server, and take no processor time.
_WORKERS: Final = 16


class BackgroundExecutor:
    """Runs tasks on a few threads, which do not keep the process alive.

    A process does not end before the threads of a ``concurrent.futures`` pool, so a
    metrics server that hangs would keep it alive.

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
        """Queue the task; its result comes through the inbox."""
        self._tasks.put(lambda: run_and_post(self._post, task, done))
        if not self._free.acquire(blocking=False) and len(self._threads) < _WORKERS:
            thread = threading.Thread(target=self._work, name="background", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Do nothing: tasks that still run are not waited for."""

    def _work(self) -> None:
        while True:
            self._tasks.get()()
            self._free.release()
