"""Sequences of jobs of a trace in the Standard Workload Format."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from quaymaster import Node, Pod
from quaymaster.experiments import Arrival, SwfJob, Workload
from quaymaster.testing import make_node, make_pod

__all__ = [
    "HELD_OUT",
    "LENGTH",
    "PROCESSORS",
    "TRAINING",
    "sequence",
]

PROCESSORS: Final = 256
LENGTH: Final = 1024
HELD_OUT: Final = (6181, 1259, 5004, 6216, 8959, 1929, 3787, 8837, 3919, 6080)
"""Where the ten sequences for judging begin; they are those of RLScheduler."""

TRAINING: Final = ((0, 1259), (2953, 3787), (7240, 8837))
"""The jobs between the sequences for judging: none of them is in such a sequence."""


def sequence(jobs: Sequence[SwfJob], first: int, length: int = LENGTH) -> Workload:
    """Return some jobs as pods that arrive at one machine with 256 processors.

    A job without a number of processors has one.

    Args:
        jobs: All jobs.
        first: The position of the first one.
        length: How many jobs.
    """
    chosen = jobs[first : first + length]
    begin = chosen[0].submitted
    return Workload(
        objects=_machine(),
        arrivals=[
            Arrival(
                obj=_pod(job.number, job.allocated or 1),
                at=job.submitted - begin,
                stays=job.run_seconds,
            )
            for job in chosen
        ],
    )


@cache
def _machine() -> tuple[Node, ...]:
    capacity = {"cpu": str(PROCESSORS), "memory": "1Ti", "pods": "1024"}
    return (make_node(name="machine", capacity=capacity),)


@cache
def _pod(number: int, width: int) -> Pod:
    return make_pod(name=f"job-{number}", requests={"cpu": width})
