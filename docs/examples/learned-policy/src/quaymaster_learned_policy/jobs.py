"""Jobs of a trace in the Standard Workload Format, in sequences."""

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import attrs
from quaymaster import Node, Pod
from quaymaster.experiments import Arrival, Workload
from quaymaster.testing import make_node, make_pod

__all__ = [
    "HELD_OUT",
    "LENGTH",
    "PROCESSORS",
    "TRAINING",
    "Job",
    "read_jobs",
    "sequence",
]

PROCESSORS: Final = 256
LENGTH: Final = 1024
HELD_OUT: Final = (6181, 1259, 5004, 6216, 8959, 1929, 3787, 8837, 3919, 6080)
"""Where the ten sequences for judging begin; they are those of RLScheduler."""

TRAINING: Final = ((0, 1259), (2953, 3787), (7240, 8837))
"""The jobs between the sequences for judging: none of them is in such a sequence."""


@attrs.frozen
class Job:
    """A job of a trace.

    Attributes:
        number: Its number.
        submitted: When it was submitted, in seconds.
        seconds: How long it ran.
        width: How many processors it used.
    """

    number: int
    submitted: int
    seconds: int
    width: int


def read_jobs(path: Path) -> Sequence[Job]:
    """Read the jobs of a trace; it may be compressed with gzip.

    Args:
        path: A file with columns for number, submit time, wait, run time, processors.
    """
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    rows = [line.split() for line in text.splitlines() if not line.startswith(";")]
    return [Job(int(r[0]), int(r[1]), int(r[3]), int(r[4])) for r in rows if r]


def sequence(jobs: Sequence[Job], first: int, length: int = LENGTH) -> Workload:
    """Return some jobs as pods that arrive at one machine with 256 processors.

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
                obj=_pod(job.number, job.width),
                at=job.submitted - begin,
                stays=job.seconds,
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
