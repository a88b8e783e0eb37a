"""Runs tasks that wait for the cluster, and holds no thread while they wait."""

from collections.abc import Callable
from typing import TypeVar

import greenlet

from quaymaster._binding.executor import Post
from quaymaster._driver.frames import Answered

__all__ = ["GreenletExecutor", "wait_for"]

T = TypeVar("T")

Ask = Callable[[Callable[[Answered], None]], None]
"""Asks for something; is given what takes the answer, on any thread."""


class _Task(greenlet.greenlet):
    """A task under way; it goes on where it waits once there is an answer."""

    post: Post

    def wait_for(self, ask: Ask) -> Answered:
        """Ask, and let the engine go on until the answer is there."""
        ask(lambda answer: self.post(lambda: self._go_on(answer)))
        assert self.parent is not None
        answer: Answered = self.parent.switch()
        return answer

    def _go_on(self, answer: Answered) -> None:
        # Whoever brings the answer gets the thread back.
        self.parent = greenlet.getcurrent()
        self.switch(answer)


class GreenletExecutor:
    """Runs each task on the engine's thread, up to where it waits for the cluster.

    Args:
        post: Puts a call into the engine's inbox, from any thread.
    """

    def __init__(self, post: Post) -> None:
        self._post = post

    def submit(self, task: Callable[[], T], done: Callable[[T], None]) -> None:
        """Run the task, and hand over its result; return as soon as it waits."""
        running = _Task(lambda: done(task()))
        running.post = self._post
        running.switch()

    def close(self) -> None:
        """Do nothing: what waits is answered by the cluster when that is closed."""


def wait_for(ask: Ask) -> Answered | None:
    """Wait for an answer if a task is under way here; else return None, unasked."""
    current = greenlet.getcurrent()
    return current.wait_for(ask) if isinstance(current, _Task) else None
