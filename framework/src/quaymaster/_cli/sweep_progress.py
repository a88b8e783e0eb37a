"""Shows the progress of a sweep: as a bar, or as lines in a log."""

import time
from collections.abc import Callable
from typing import Final

import click

from quaymaster._cli.progress import ProgressBar
from quaymaster._studies.experiments.sweeping import SweepProgress, SweepProgressFn

__all__ = ["lines_of_progress", "showing_in"]

_SECONDS_BETWEEN_LINES: Final = 30.0


def showing_in(progress: ProgressBar) -> SweepProgressFn:
    """Return the callback that shows progress in a bar, or in lines without one."""
    if progress.is_hidden:
        return lines_of_progress()
    task = progress.add_task("", total=None)

    def update(now: SweepProgress) -> None:
        progress.update(
            task,
            completed=now.done + now.failed,
            total=now.total,
            description=", ".join(_facts(now)),
        )

    return update


def lines_of_progress(clock: Callable[[], float] = time.monotonic) -> SweepProgressFn:
    """Return the callback that prints a line on standard error, at most every 30 s.

    Args:
        clock: Returns the time, in seconds.
    """
    last = clock()

    def update(now: SweepProgress) -> None:
        nonlocal last
        if clock() - last < _SECONDS_BETWEEN_LINES:
            return
        last = clock()
        facts = [f"{now.done} of {now.total} runs done", *reversed(_facts(now))]
        click.echo(", ".join(facts), err=True)

    return update


def _facts(now: SweepProgress) -> list[str]:
    facts = [] if now.seconds_left is None else [f"{_span(now.seconds_left)} left"]
    return [*facts, f"{now.failed} failed"] if now.failed else facts


def _span(seconds: float) -> str:
    """Format a time for people."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
