"""Runs tasks that wait for the cluster, and occupies no thread while they wait."""

from collections.abc import Callable
from typing import Any, TypeVar

import greenlet

from quaymaster._clusters.driver.frames import Response
from quaymaster._clusters.driver.waiting import Ask
from quaymaster._core.binding.background import BackgroundExecutor
from quaymaster._core.binding.executor import Post

__all__ = ["GreenletExecutor", "wait_for"]

T = TypeVar("T")


class _Task(greenlet.greenlet):
    """A running task, which continues once the response it waits for has arrived.

    Args:
        task: The work.
        done: Receives its result, on the engine's thread.
        post: Puts a call into the engine's inbox.
        waiting: All waiting tasks; this task is in the set while it waits.
    """

    def __init__(
        self,
        task: Callable[[], T],
        done: Callable[[T], None],
        post: Post,
        waiting: "set[_Task]",
    ) -> None:
        super().__init__(task)
        self._done = done
        self._post = post
        self._waiting = waiting

    def step(self, *sent: Response) -> None:
        """Run until the task waits or ends."""
        # The caller continues then, and receives the exceptions of the task.
        self.parent = greenlet.getcurrent()
        result: Any = self.switch(*sent)
        if self.dead:
            self._done(result)

    def wait_for(self, ask: Ask) -> Response:
        """Send the request, and let the engine continue until the response arrives."""
        self._waiting.add(self)
        ask(lambda answer: self._post(lambda: self._go_on(answer)))
        assert self.parent is not None, "step started it"
        answer: Response = self.parent.switch()
        return answer

    def cancel(self) -> None:
        """End the waiting task, without a result."""
        self.parent = greenlet.getcurrent()
        self.throw()

    def _go_on(self, answer: Response) -> None:
        if self in self._waiting:  # else it was cancelled
            self._waiting.remove(self)
            self.step(answer)


class GreenletExecutor:
    """Runs tasks on the engine's thread, up to where they wait for the cluster.

    Tasks that may block elsewhere run on daemon threads.

    Args:
        post: Puts a call into the engine's inbox, from any thread.
    """

    def __init__(self, post: Post) -> None:
        self._post = post
        self._background = BackgroundExecutor(post)
        self._waiting: set[_Task] = set()

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        """Run the task and pass on its result; return as soon as the task waits."""
        if blocks:
            self._background.submit(task, done)
        else:
            _Task(task, done, self._post, self._waiting).step()

    def close(self) -> None:
        """Cancel tasks that wait for the cluster; tasks on threads continue."""
        while self._waiting:
            self._waiting.pop().cancel()


def wait_for(ask: Ask) -> Response | None:
    """Wait for a response inside a task; outside one, send nothing and return None."""
    current = greenlet.getcurrent()
    return current.wait_for(ask) if isinstance(current, _Task) else None
