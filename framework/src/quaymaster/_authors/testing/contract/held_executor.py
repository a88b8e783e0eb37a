"""An executor whose tasks a check holds, as if workers were busy."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from quaymaster._core.binding.executor import InlineExecutor

__all__ = ["HeldExecutor"]

T = TypeVar("T")


class HeldExecutor(InlineExecutor):
    """Runs tasks at once, or holds them and their results.

    Attributes:
        is_holding: Whether it holds new tasks.
        tasks: The number of all tasks.
        outcomes: The outcomes of those that have run, see `outcome_of`.
    """

    def __init__(self, *, is_holding: bool = False) -> None:
        super().__init__()
        self.is_holding = is_holding
        self.tasks = 0
        self.outcomes: list[object] = []
        self._held: deque[Callable[[], None]] = deque()
        self._results: deque[Callable[[], None]] = deque()

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        """Run the task and `done` now, or hold the task."""
        self.tasks += 1

        def run() -> T:
            outcome = task()
            self.outcomes.append(outcome)
            return outcome

        if self.is_holding:
            self._held.append(lambda: self._results.append(partial(done, run())))
        else:
            super().submit(run, done, blocks=blocks)

    @property
    def has_tasks(self) -> bool:
        """Whether it holds a task."""
        return bool(self._held)

    def run_first(self) -> None:
        """Run the first held task, and call its `done`."""
        if self._held:
            self._held.popleft()()
            self.deliver_results()

    def run_tasks(self) -> None:
        """Run the held tasks, and hold their results."""
        tasks, self._held = self._held, deque()
        while tasks:
            tasks.popleft()()

    def deliver_results(self) -> None:
        """Call `done` of the tasks that have run."""
        while self._results:
            self._results.popleft()()

    def release(self) -> None:
        """Run all that is held, and from now on all tasks at once."""
        self.is_holding = False
        self.deliver_results()
        self.run_tasks()
        self.deliver_results()
