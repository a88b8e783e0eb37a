"""What has happened in many runs since their last decisions, and rewards for it."""

from collections.abc import Callable
from typing import TypeAlias

import attrs

from quaymaster._core.state.arrays import Float64Array

__all__ = [
    "Elapsed",
    "ElapsedReward",
    "added_slowdown",
    "bounded_slowdown",
    "started_pods",
    "waiting_seconds",
]


@attrs.frozen(kw_only=True, eq=False)
class Elapsed:
    """What has happened since the last decision; each array has shape ``(K,)``.

    Attributes:
        seconds: How much time has passed.
        waited: The pod-seconds of waiting: the integral of the queue's length.
        slowed: The slowdown that this waiting has added to the waiting pods.
        started: How many pods have started.
        slowdown: The sum of their bounded slowdowns.
        left: How many pods have left, because no node was feasible.
    """

    seconds: Float64Array
    waited: Float64Array
    slowed: Float64Array
    started: Float64Array
    slowdown: Float64Array
    left: Float64Array


ElapsedReward: TypeAlias = Callable[[Elapsed], Float64Array]
"""Returns the reward of each run, shape ``(K,)``."""


def waiting_seconds(elapsed: Elapsed) -> Float64Array:
    """Return minus the pod-seconds of waiting.

    Their sum over an episode is minus the sum of all waiting times, and therefore
    minus the sum of all job completion times, up to the running times.
    """
    return -elapsed.waited


def added_slowdown(elapsed: Elapsed) -> Float64Array:
    """Return minus the slowdown that the elapsed time has added to waiting pods.

    It is `bounded_slowdown`, paid while a pod waits and not when it starts; only pods
    that run for a shorter time than the shortest one are counted from the beginning.
    """
    return -elapsed.slowed


def bounded_slowdown(elapsed: Elapsed) -> Float64Array:
    """Return minus the bounded slowdowns of the pods that have started.

    It is ``max(1, (waiting + running) / max(running, 10 s))``, as in RLScheduler.
    """
    return -elapsed.slowdown


def started_pods(elapsed: Elapsed) -> Float64Array:
    """Return how many pods have started."""
    return elapsed.started
