"""Executors of binding work: inline in a simulation, on workers against a server."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeAlias, TypeVar

__all__ = ["Executor", "InlineExecutor", "Post", "WorkerExecutor", "run_and_post"]

T = TypeVar("T")

Post: TypeAlias = Callable[[Callable[[], None]], None]
"""Puts a call into the engine's inbox, from any thread."""


class Executor(Protocol):
    """Runs a task somewhere, and hands its result to the engine's thread."""

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        """Run ``task``, then ``done`` with its result on the engine's thread.

        Args:
            task: The work. What it raises, the engine's thread raises.
            done: Takes the result; it may touch the engine's state.
            blocks: Whether the task may wait for anything but answers of the cluster.
        """

    def close(self) -> None:
        """Wait for what has been submitted."""


class InlineExecutor:
    """Runs everything at once on the calling thread: the simulator's executor."""

    def __init__(self, _post: Post | None = None) -> None:
        """Ignore the inbox: nothing comes from other threads."""

    def submit(
        self,
        task: Callable[[], T],
        done: Callable[[T], None],
        *,
        blocks: bool = True,  # noqa: ARG002 - all tasks run alike
    ) -> None:
        """Run the task and hand over its result before returning."""
        done(task())

    def close(self) -> None:
        """Do nothing: no task is left to wait for."""


class WorkerExecutor:
    """Runs tasks on a pool of threads; for calls that wait for a server.

    Args:
        post: Puts a call into the engine's inbox, from any thread.
        workers: How many tasks may wait for the server at the same time.
    """

    def __init__(self, post: Post, workers: int = 16) -> None:
        self._post = post
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="binding")

    def submit(
        self,
        task: Callable[[], T],
        done: Callable[[T], None],
        *,
        blocks: bool = True,  # noqa: ARG002 - all tasks run alike
    ) -> None:
        """Queue the task; its result comes through the inbox."""
        self._pool.submit(lambda: run_and_post(self._post, task, done))

    def close(self) -> None:
        """Wait for the tasks that run; their results are left in the inbox."""
        self._pool.shutdown(wait=True)


def run_and_post(post: Post, task: Callable[[], T], done: Callable[[T], None]) -> None:
    """Run a task here, and have what comes of it handled on the engine's thread.

    Args:
        post: Puts a call into the engine's inbox.
        task: The work. What it raises, the engine's thread raises.
        done: Takes the result.
    """
    try:
        result = task()
    except BaseException as error:
        # A pool of threads hides what its tasks raise, and the engine would wait for a
        # result that never comes.
        post(_raising(error))
        return
    post(lambda: done(result))


def _raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail
