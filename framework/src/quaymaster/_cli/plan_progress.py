"""Shows how the search of ``plan`` goes: a bar, or lines if there is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

import attrs

from quaymaster._base.errors import counted
from quaymaster._cli.amounts import plain_amount
from quaymaster._cli.output import warn
from quaymaster._cli.progress import ProgressBar, progress_bar
from quaymaster._studies.planning.plans import Plan

__all__ = ["PlanProgress", "plan_progress"]

_PERIOD_SECONDS: Final = 20.0
"""How much time passes between two lines on a stream that is not a terminal."""


@attrs.define(eq=False)
class PlanProgress:
    """Shows how many plans were tried, and the best one so far.

    Attributes:
        bar: The progress bar.
        task: Its line.
        clock: Returns the time in seconds.
        last: When the last line was printed.
        best: The best plan so far, in words.
    """

    bar: ProgressBar
    task: int
    clock: Callable[[], float]
    last: float
    best: str = "none so far"

    def tried(self, tried: int, most: int) -> None:
        """Show how many plans were tried, of how many at most."""
        self.bar.update(
            self.task,
            completed=tried,
            total=most,
            description=f"trying plans; best: {self.best}",
        )
        now = self.clock()
        if self.bar.is_hidden and now - self.last >= _PERIOD_SECONDS:
            self.last = now
            warn(f"plan: {counted(tried, 'plan')} tried; best: {self.best}")

    def step(self, placed: int, pods: int) -> None:
        """Show how far the simulation of the plan that is being tried is."""
        text = f"trying plans ({placed} of {pods} pods); best: {self.best}"
        self.bar.update(self.task, description=text)
        now = self.clock()
        if self.bar.is_hidden and now - self.last >= _PERIOD_SECONDS:
            self.last = now
            warn(f"plan: {placed} of {pods} pods in this trial; best: {self.best}")

    def better(self, plan: Plan) -> None:
        """Show a plan that is better than those before."""
        cost = "" if plan.cost is None else f" for {plain_amount(plan.cost)}"
        self.best = f"{counted(len(plan.nodes), 'more node')}{cost}"
        if plan.rounds:
            self.best += f" in {counted(len(plan.rounds) - 1, 'round')}"


@contextmanager
def plan_progress(clock: Callable[[], float] = monotonic) -> Iterator[PlanProgress]:
    """Show the progress of a search on standard error."""
    with progress_bar() as bar:
        task = bar.add_task("reading", total=None)
        yield PlanProgress(bar=bar, task=task, clock=clock, last=clock())
