"""Runs tasks that wait for the cluster, and holds no thread while they wait."""

from collections.abc import Callable
from typing import Any, TypeVar

import greenlet

from quaymaster._clusters.driver.frames import Answered
from quaymaster._clusters.driver.waiting import Ask
from quaymaster._core.binding.background import BackgroundExecutor
from quaymaster._core.binding.executor import Post

__all__ = ["GreenletExecutor", "wait_for"]

T = TypeVar("T")


class _Task(greenlet.greenlet):
    """A task under way; it goes on where it waits once there is an answer.

    Args:
        task: The work.
        done: Takes its result, where the last answer was brought.
        post: Puts a call into the engine's inbox.
        waiting: The tasks that wait; this one is among them while it does.
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

    def step(self, *sent: Answered) -> None:
        """Let it go on up to where it waits, or to its end."""
        # Whoever calls gets the thread back, and what the task raises.
        self.parent = greenlet.getcurrent()
        result: Any = self.switch(*sent)
        if self.dead:
            self._done(result)

    def wait_for(self, ask: Ask) -> Answered:
        """Ask, and let the engine go on until the answer is there."""
        self._waiting.add(self)
        ask(lambda answer: self._post(lambda: self._go_on(answer)))
        assert self.parent is not None, "it was begun by step"
        answer: Answered = self.parent.switch()
        return answer

    def cancel(self) -> None:
        """End it where it waits; its result does not come."""
        self.parent = greenlet.getcurrent()
        self.throw()

    def _go_on(self, answer: Answered) -> None:
        if self in self._waiting:  # else it was cancelled
            self._waiting.remove(self)
            self.step(answer)


class GreenletExecutor:
    """Runs tasks on the engine's thread, up to where they wait for the cluster.

    Those that may block elsewhere get threads, which do not keep the process alive.

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
        """Run the task, and hand over its result; return as soon as it waits."""
        if blocks:
            self._background.submit(task, done)
        else:
            _Task(task, done, self._post, self._waiting).step()

    def close(self) -> None:
        """Cancel what waits for the cluster; what blocks elsewhere is left alone."""
        while self._waiting:
            self._waiting.pop().cancel()


def wait_for(ask: Ask) -> Answered | None:
    """Wait for an answer if a task is under way here; else return None, unasked."""
    current = greenlet.getcurrent()
    return current.wait_for(ask) if isinstance(current, _Task) else None
