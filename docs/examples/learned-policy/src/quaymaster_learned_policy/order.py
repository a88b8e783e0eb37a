"""Orders of jobs: which of the waiting jobs is next, by a weighted sum of columns."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from quaymaster.columns import Float64Array
from quaymaster.experiments import SwfJob
from quaymaster.gym import QueueObservation, SchedulerVectorEnv, bounded_slowdown

from quaymaster_learned_policy.jobs import sequence

__all__ = [
    "COLUMNS",
    "LEARNED_ORDER",
    "ORDERS",
    "Order",
    "columns",
    "make_envs",
    "slowdowns",
    "weighted",
]

Order: TypeAlias = Callable[[QueueObservation], Float64Array]
"""Returns a value for each waiting job of each run; the highest is next."""

COLUMNS: Final = (
    "run time",
    "width",
    "waited",
    "fits now",
    "run time x width",
    "run time x processors",
    "slowdown so far",
    "fits now x processors",
)
LEARNED_ORDER: Final = (-0.19, -1.56, -0.39, 1.97, -2.60, -2.10, 1.39, 2.58)
"""What ``python -m quaymaster_learned_policy.train_order`` found."""

_LOG_OF_LONGEST: Final = 12.0
"""The logarithm of about two days, the longest run time of the trace."""

_WIDEST: Final = 8.0
"""The logarithm to base 2 of 256 processors."""


def columns(seen: QueueObservation) -> Float64Array:
    """Describe each waiting job by numbers of about 0 to 1.

    Returns:
        Shape ``(K, M, C)``: runs, jobs of the window, `COLUMNS`.
    """
    waited, fits, seconds, share = np.moveaxis(
        seen["pods"][..., :4].astype(np.float64), -1, 0
    )
    run = np.log1p(seconds) / _LOG_OF_LONGEST
    width = np.log2(1 + (2**_WIDEST - 1) * share) / _WIDEST
    slowdown = np.log1p(waited / np.maximum(seconds, 10)) / _LOG_OF_LONGEST
    wait = np.log1p(waited) / _LOG_OF_LONGEST
    parts = (run, width, wait, fits, run * width, run * share, slowdown, fits * share)
    return np.stack(parts, axis=-1)


def weighted(weights: Float64Array) -> Order:
    """Return the order of a weighted sum of columns.

    Args:
        weights: Shape ``(C,)``, or ``(K, C)`` with other weights for each run.
    """
    # One line for all runs, or one for each.
    lines = np.atleast_2d(weights)[:, np.newaxis, :]

    def order(seen: QueueObservation) -> Float64Array:
        values: Float64Array = (columns(seen) * lines).sum(axis=-1)
        return values

    return order


ORDERS: Final[dict[str, Order]] = {
    "FCFS": lambda seen: seen["pods"][..., 0].astype(np.float64),
    "SJF": lambda seen: -seen["pods"][..., 2].astype(np.float64),
    "learned": weighted(np.array(LEARNED_ORDER)),
}
"""First come first served, shortest job first, and what was learned."""


def make_envs(
    jobs: Sequence[SwfJob], runs: int, *, length: int, window: int, verify: int = 0
) -> SchedulerVectorEnv:
    """Return an environment whose seeds are the positions of first jobs.

    The chosen job waits at the head of the line until it fits: no backfilling.

    Args:
        jobs: All jobs.
        runs: The number of runs.
        length: How many jobs a sequence has.
        window: How many waiting jobs an order sees.
        verify: As for `SchedulerVectorEnv`.
    """
    return SchedulerVectorEnv(
        lambda first: sequence(jobs, first, length),
        runs,
        window=window,
        head_of_line=True,
        resources=("cpu",),
        reward=bounded_slowdown,
        max_nodes=1,
        verify=verify,
    )


def slowdowns(
    envs: SchedulerVectorEnv, firsts: Sequence[int], order: Order
) -> Float64Array:
    """Play one sequence in each run; return the sums of bounded slowdowns.

    Args:
        envs: The environment.
        firsts: The position of the first job of each run.
        order: Chooses the next job.
    """
    seen, info = envs.reset(seed=firsts)
    total, alive = np.zeros(envs.num_envs), np.ones(envs.num_envs, bool)
    while alive.any():
        # With one node, an action is the position of a job.
        allowed = info["action_mask"][:, :-1].astype(bool)
        actions = np.where(allowed, order(seen), -np.inf).argmax(axis=1)
        seen, rewards, over, _, info = envs.step(actions)
        total -= np.where(alive, rewards, 0.0)
        alive &= ~over
    return total
