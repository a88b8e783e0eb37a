"""The ages of objects in a simulation."""

import math

from quaymaster._api.objects import Time

__all__ = ["age_of"]


def age_of(moment: Time | float | None, now: float) -> float:
    """Return how many seconds ago a moment was.

    A simulation begins at a fixed date. So objects of a dump may seem to come from the
    future: they are older than the simulation, and their age is infinite. The same
    holds for objects without a time.

    Args:
        moment: The moment, in seconds since the epoch.
        now: The time of the simulation.
    """
    if moment is None or float(moment) > now:
        return math.inf
    return now - float(moment)
