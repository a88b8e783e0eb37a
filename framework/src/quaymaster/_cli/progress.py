"""Progress bars on standard error, shown if that is a terminal."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from quaymaster._cli.terminal import progress_console, shows_progress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["ProgressBar", "progress_bar", "scheduling_in", "trying_in"]


class ProgressBar:
    """A progress bar, or nothing if standard error is not a terminal.

    ``rich`` is imported for bars that are shown only: its import takes a fifth of the
    CPU time of a small simulation.

    Args:
        unit: What is counted, such as ``runs``: it is shown before the bar, and the
            description of a task behind it. Without a unit, the description comes
            first.
    """

    def __init__(self, unit: str = "") -> None:
        self._bar = _visible_bar(unit) if shows_progress(sys.stderr) else None
        self._tasks: list[TaskID] = []

    @property
    def is_hidden(self) -> bool:
        """Whether nothing is shown."""
        return self._bar is None

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def add_task(
        self, description: str, *, total: float | None, visible: bool = True
    ) -> int:
        """Add a line to the bar.

        Args:
            description: The text before the bar.
            total: How many steps the task has, or None if that is unknown.
            visible: Whether the line is shown.

        Returns:
            The number of the task.
        """
        if self._bar is None:
            return 0
        task = self._bar.add_task(description, total=total, visible=visible)
        self._tasks.append(task)
        return len(self._tasks) - 1

    def update(
        self,
        task: int,
        *,
        completed: float | None = None,
        total: float | None = None,
        advance: float | None = None,
        description: str | None = None,
        visible: bool | None = None,
    ) -> None:
        """Change a line of the bar; None leaves a value unchanged.

        Args:
            task: The number of the task.
            completed: How many steps are done.
            total: How many steps the task has.
            advance: How many more steps are done.
            description: The text before the bar.
            visible: Whether the line is shown.
        """
        if self._bar is not None:
            self._bar.update(
                self._tasks[task],
                completed=completed,
                total=total,
                advance=advance,
                description=description,
                visible=visible,
            )

    def advance(self, task: int) -> None:
        """Add one step to those that are done."""
        self.update(task, advance=1)


def progress_bar(unit: str = "") -> ProgressBar:
    """Make a progress bar on standard error; see `ProgressBar`."""
    return ProgressBar(unit)


def _visible_bar(unit: str) -> "Progress":
    from rich.progress import (  # noqa: PLC0415 - see ProgressBar
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
    )

    description = TextColumn("{task.description}")
    before, after = (TextColumn(unit), [description]) if unit else (description, [])
    return Progress(
        before,
        BarColumn(),
        MofNCompleteColumn(),
        *after,
        console=progress_console(sys.stderr),
        transient=True,
    )


def scheduling_in(progress: ProgressBar) -> Callable[[int, int], None]:
    """Show in a progress bar how many pods have been scheduled, of how many."""
    task = progress.add_task("making pods", total=None)

    def update(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total, description="scheduling")

    return update


def trying_in(progress: ProgressBar) -> Callable[[int, int], None]:
    """Show in a progress bar how many changes have been tried, of how many at most."""
    task = progress.add_task("trying changes", total=None, visible=False)

    def update(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total, visible=True)

    return update
