"""Time series of a simulation: what was requested, and how many pods waited."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import attrs
import numpy as np

from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.state.arrays import Int64Array

__all__ = ["Sample", "Series"]

_FIRST: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources that every node table has a row for, in that order."""


@attrs.frozen(kw_only=True)
class Sample:
    """A simulation at one moment.

    Amounts are millicores for CPU, bytes for memory and storage, and plain numbers for
    extended resources.

    Attributes:
        at: The time, in seconds since the simulation began.
        attempts: How many attempts there had been.
        placed: How many pods had got a node.
        preempted: How many pods had been preempted.
        active: How many pods were about to be tried, or being tried.
        backoff: How many waited to be tried again, after a rejection or an error.
        unschedulable: How many waited for an event, gated ones included.
        waiting: How many waited on Permit.
        nodes: How many nodes there were.
        pods: How many pods were on nodes.
        requested: Resource -> what pods on nodes requested.
        allocatable: Resource -> what the nodes offered.
    """

    at: float
    attempts: int
    placed: int
    preempted: int
    active: int
    backoff: int
    unschedulable: int
    waiting: int
    nodes: int
    pods: int
    requested: Mapping[str, int]
    allocatable: Mapping[str, int]

    @property
    def pending(self) -> int:
        """How many pods had no node."""
        return self.active + self.backoff + self.unschedulable + self.waiting


class Series:
    """Takes samples of a simulation, few enough for a chart.

    A sample can be taken before each attempt and before time passes. At first every
    such moment gives a sample. When there are too many samples, every second sample
    with the same time as the next one is dropped, and every second attempt is skipped
    from then on. If there are few of these, the half of the others that lasted shortest
    is dropped. So every state that lasted is shown, however short the moments before it
    were.

    Args:
        scheduler: The scheduler.
        most: How many samples are kept at most; at least 2.
    """

    def __init__(self, scheduler: Scheduler, most: int) -> None:
        self._scheduler = scheduler
        self._most = max(most, 2)
        self._samples: list[Sample] = []
        self._stride = 1
        self._until_next = 1

    def moment(
        self,
        at: float,
        attempts: int,
        placed: int,
        preempted: int,
        *,
        lasts: bool = False,
    ) -> None:
        """Take a sample, unless this moment is skipped.

        Args:
            at: The time, in seconds since the beginning.
            attempts: How many attempts there have been.
            placed: How many pods have got a node.
            preempted: How many pods have been preempted.
            lasts: Whether time passes now without any change.
        """
        if not lasts:
            self._until_next -= 1
            if self._until_next:
                return
            self._until_next = self._stride
        self._samples.append(self.now(at, attempts, placed, preempted))
        if len(self._samples) > self._most:
            self._thin()

    def _thin(self) -> None:
        stood = [after.at - before.at for before, after in pairwise(self._samples)]
        fleeting = [number for number, span in enumerate(stood) if not span]
        if len(fleeting) > len(stood) // 2:
            gone = set(fleeting[1::2])
            self._stride *= 2
            self._until_next = self._stride
        else:
            others = [number for number, span in enumerate(stood) if number and span]
            others.sort(key=stood.__getitem__)
            gone = set(others[: len(others) // 2 + 1])
        self._samples = [
            sample for number, sample in enumerate(self._samples) if number not in gone
        ]

    def samples(self) -> Sequence[Sample]:
        """Return the samples, in the order of time."""
        return tuple(self._samples)

    def now(self, at: float, attempts: int, placed: int, preempted: int) -> Sample:
        """Return a sample of this moment; the arguments are those of `moment`."""
        scheduler = self._scheduler
        nodes, queue = scheduler.snapshot.nodes, scheduler.queue.lengths()
        rows, waiting = nodes.rows, len(scheduler.waiting)
        names = (*_FIRST, *nodes.resources())
        return Sample(
            at=at,
            attempts=attempts,
            placed=placed,
            preempted=preempted,
            active=queue.active + max(queue.in_flight - waiting, 0),
            backoff=queue.backoff,
            unschedulable=queue.unschedulable,
            waiting=waiting,
            nodes=len(nodes),
            pods=int(nodes.pod_count[rows].sum()),
            requested=_summed(names, nodes.requested[:, rows]),
            allocatable=_summed(names, nodes.allocatable[:, rows]),
        )


def _summed(names: Sequence[str], amounts: Int64Array) -> Mapping[str, int]:
    """Sum the rows of resources, shape ``(R, N)``; rows without a name are skipped."""
    sums: list[int] = np.sum(amounts, axis=1).tolist()
    return dict(zip(names, sums, strict=False))
