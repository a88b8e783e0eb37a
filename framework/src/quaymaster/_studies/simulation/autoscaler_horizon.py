"""Ends simulations whose autoscaler never settles.

Without a time limit, a simulation ends when its autoscaler will change nothing more.
Some never get there: nodes that expire again and again, or an autoscaler that is wrong.
"""

from collections.abc import Callable
from typing import Final

from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._studies.simulation.autoscaler import Autoscaler

__all__ = ["HORIZON_SECONDS", "settle_with", "unsettled_notice"]

HORIZON_SECONDS: Final = 7 * 86_400.0
"""Chosen: a recorded week, and the windows of all budgets of a week, are within it."""


def settle_with(
    scheduler: Scheduler,
    autoscaler: Autoscaler,
    now: Callable[[], float],
    on_turn: Callable[[], None] = lambda: None,
) -> bool:
    """Schedule until an autoscaler has settled, or the horizon is reached.

    Args:
        scheduler: The scheduler.
        autoscaler: The autoscaler.
        now: Returns the virtual time.
        on_turn: Called after each turn of the scheduler.

    Returns:
        Whether it has settled.
    """
    end = now() + HORIZON_SECONDS
    while True:
        while now() < end and not scheduler.is_stuck:
            if not scheduler.turn() and not scheduler.pass_time():
                break
            on_turn()
        scheduler.queue.rest(False)
        if autoscaler.is_settled:
            return True
        if now() >= end:
            return False
        scheduler.wait()
        scheduler.turn()
        on_turn()


def unsettled_notice() -> Notice:
    """Return the notice about a simulation that ended at the horizon."""
    days = HORIZON_SECONDS / 86_400
    return Notice(
        reason=NoticeReason.UNSETTLED_AUTOSCALER,
        message=f"after {days:g} days of virtual time, the autoscaler still changes "
        "nodes: the simulation ends there, and what comes later is left out",
    )
