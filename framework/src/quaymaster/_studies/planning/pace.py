"""Ends a search in time, and shows that it goes on, also while one plan is tried."""

from collections.abc import Callable
from typing import Final

import attrs

from quaymaster._studies.simulation.run import Simulation

__all__ = ["LateError", "Pace"]

_TURNS: Final = 64
"""How many attempts there are between two looks at the time."""


class LateError(Exception):
    """The time of a search is over while a plan is being tried."""


@attrs.define(eq=False)
class Pace:
    """Looks at the time during simulations.

    Attributes:
        is_late: Whether the time of the search is over.
        on_step: Called now and then while a plan is tried, with how many pods got a
            node in its simulation, and how many pods there are.
        is_open: Whether a simulation ends when the time is over.
    """

    is_late: Callable[[], bool] = lambda: False
    on_step: Callable[[int, int], None] = lambda _done, _all: None
    is_open: bool = True

    def check(self) -> None:
        """Raise an error if the time is over.

        Raises:
            LateError: The time is over.
        """
        if self.is_open and self.is_late():
            raise LateError

    def settle(self, simulation: Simulation) -> None:
        """Schedule until the cluster has settled, as `Simulation.settle` does.

        An autoscaler must have settled, too.

        Raises:
            LateError: The time is over before that.
        """
        simulation.start()
        if simulation.autoscaler is not None:
            simulation.settle_autoscaler(_Steps(self, simulation))
            return
        scheduler, steps = simulation.scheduler, _Steps(self, simulation)
        while not scheduler.is_stuck:
            if not scheduler.turn() and not scheduler.pass_time():
                break
            steps()
        scheduler.queue.rest(False)


class _Steps:
    """Looks at the time, and reports a step, after some turns of a scheduler.

    Args:
        pace: Has the time.
        simulation: The simulation.
    """

    def __init__(self, pace: Pace, simulation: Simulation) -> None:
        self._pace = pace
        self._simulation = simulation
        self._turns = 0

    def __call__(self) -> None:
        """Count a turn.

        Raises:
            LateError: The time is over.
        """
        self._turns += 1
        if self._turns % _TURNS == 0:
            self._pace.check()
            placed = self._simulation.moment()[2]
            waiting = len(self._simulation.scheduler.queue)
            self._pace.on_step(placed, placed + waiting)
