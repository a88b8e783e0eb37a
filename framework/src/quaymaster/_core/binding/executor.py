"""Executors of binding tasks: inline in simulations, on threads with a real server."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeAlias, TypeVar

__all__ = ["Executor", "InlineExecutor", "Post", "WorkerExecutor", "run_and_post"]

T = TypeVar("T")

Post: TypeAlias = Callable[[Callable[[], None]], None]
"""Puts a call into the engine's inbox, from any thread."""


class Executor(Protocol):
    """Runs a task, and passes its result to the engine's thread."""

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        """Run ``task``, then ``done`` with its result on the engine's thread.

        Args:
            task: The work. An exception of it is raised on the engine's thread.
            done: Handles the result; it may access the engine's state.
            blocks: Whether the task may wait for anything but answers of the cluster.
        """

    def close(self) -> None:
        """Wait for the submitted tasks."""


class InlineExecutor:
    """Runs tasks at once on the calling thread; used by the simulator."""

    def __init__(self, _post: Post | None = None) -> None:
        """Ignore the inbox, because there are no other threads."""

    def submit(
        self,
        task: Callable[[], T],
        done: Callable[[T], None],
        *,
        blocks: bool = True,  # noqa: ARG002 - all tasks run alike
    ) -> None:
        """Run the task, then `done` with its result, before returning."""
        done(task())

    def close(self) -> None:
        """Do nothing: no task is running."""


class WorkerExecutor:
    """Runs tasks on a pool of threads; for calls that wait for a server.

    Args:
        post: Puts a call into the engine's inbox, from any thread.
        workers: The maximum number of tasks that wait for the server at the same time.
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
        """Queue the task; its result is posted to the inbox."""
        # The result goes through the inbox, so that only one thread changes the state.
        self._pool.submit(lambda: run_and_post(self._post, task, done))

    def close(self) -> None:
        """Wait for the running tasks; their results stay in the inbox."""
        self._pool.shutdown(wait=True)


def run_and_post(post: Post, task: Callable[[], T], done: Callable[[T], None]) -> None:
    """Run a task on this thread, and post its result to the engine's thread.

    Args:
        post: Puts a call into the engine's inbox.
        task: The work. An exception of it is raised on the engine's thread.
        done: Handles the result.
    """
    try:
        result = task()
    except BaseException as error:
        # A thread pool swallows exceptions of its tasks, and the engine would wait
        # forever for the result.
        post(_raising(error))
        return
    post(lambda: done(result))


def _raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail
