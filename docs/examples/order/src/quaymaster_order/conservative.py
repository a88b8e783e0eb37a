"""Conservative backfilling: a reservation for each waiting pod and PodGroup.

"Utilization, predictability, workloads, and user runtime estimates" (2001).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
from quaymaster import Handle

from quaymaster_order.backfilling import Plan
from quaymaster_order.jobs import BatchJob
from quaymaster_order.line import Line
from quaymaster_order.reservations import Reservation
from quaymaster_order.rooms import Rooms, amounts_of
from quaymaster_order.timeline import Timeline

__all__ = ["Conservative"]

_NO_ROWS: Final[frozenset[int]] = frozenset()


@attrs.frozen
class Conservative:
    """Reserves room for each waiting job, in the order of the policy.

    Attributes:
        rooms: The room of nodes.
        handle: The handle of the plugin.
        line: The waiting jobs.
    """

    rooms: Rooms
    handle: Handle
    line: Line

    def __call__(self, head: BatchJob, reservation: Reservation) -> Plan:
        """Make the reservations; see `Planner`."""
        behind = self.line.ordered(self.line.behind())
        parts = (part for job in (head, *behind) for part in job.parts)
        names = {name for part in parts for name in amounts_of(part.pod)}
        now = self.handle.clock.now()
        reserved = _Reserved(
            now,
            {
                row: self.rooms.timeline(info, names)
                for row, info in enumerate(self.handle.snapshot.nodes.infos)
                if info is not None
            },
        )
        reserved.keep(head, reservation)
        for job in behind:
            if job.members:
                reserved.add_gang(job, self.line.least(job))
            else:
                reserved.add(job)
        return _ConservativePlan(reserved.starts)


class _Reserved:
    """The reservations so far.

    Args:
        now: The current time.
        timelines: Row of a node -> what is left there.

    Attributes:
        starts: The uid of a pod that may start now -> its row.
    """

    def __init__(self, now: float, timelines: dict[int, Timeline]) -> None:
        self._now = now
        self._timelines = timelines
        self.starts: dict[str, frozenset[int]] = {}

    def keep(self, head: BatchJob, reservation: Reservation) -> None:
        """Add the reservation of the head, and those of its pods that start later."""
        if reservation.at == math.inf:
            return
        at = max(self._now, reservation.at)
        placed = set()
        for row, jobs in reservation.shares.items():
            for job in jobs:
                placed.add(job.pod.uid)
                request = amounts_of(job.pod)
                self._timelines[row].take(request, at, job.requested_seconds)
        for job in head.parts:
            if job.pod.uid not in placed:
                self._take(job, at)

    def add(self, job: BatchJob, after: float = -math.inf) -> None:
        """Reserve the earliest room for a pod."""
        at, row = self._take(job, after)
        if at == self._now:
            self.starts[job.pod.uid] = frozenset({row})

    def add_gang(self, job: BatchJob, least: int) -> None:
        """Reserve the earliest room for enough pods of a PodGroup at once.

        Its other pods start when there is room for them.

        Args:
            job: The job of the PodGroup.
            least: How many pods have to start together.
        """
        kinds = _kinds(job.members)
        times = {at for timeline in self._timelines.values() for at in timeline.times}
        for at in sorted(times):
            placed = self._place(kinds, at, least)
            if placed is None:
                continue
            for member in job.members:
                row = placed.get(member.pod.uid)
                if row is None:
                    self.add(member, at)
                elif at == self._now:
                    self.starts[member.pod.uid] = frozenset({row})
            return

    def _take(self, job: BatchJob, after: float) -> tuple[float, int]:
        """Reserve the earliest room for a pod; return the time and the row."""
        request, seconds = amounts_of(job.pod), job.requested_seconds
        best, first = math.inf, -1
        for row, timeline in self._timelines.items():
            at = timeline.earliest(request, seconds, after)
            if at < best:
                best, first = at, row
        if first >= 0:
            self._timelines[first].take(request, best, seconds)
        return best, first

    def _place(
        self, kinds: Iterable[Sequence[BatchJob]], at: float, least: int
    ) -> Mapping[str, int] | None:
        """Reserve room for as many pods as have it at one time, if these suffice.

        Returns:
            The uid of each of these pods -> the row of its node; None if they are too
            few, and nothing is reserved.
        """
        changed: dict[int, Timeline] = {}
        placed: dict[str, int] = {}
        for jobs in kinds:
            request, seconds = amounts_of(jobs[0].pod), jobs[0].requested_seconds
            left = [job.pod.uid for job in jobs]
            for row, before in self._timelines.items():
                timeline = changed.get(row, before)
                number = min(timeline.count(request, at, seconds), len(left))
                if number:
                    changed[row] = after = timeline.copy()
                    after.take(request, at, seconds, number)
                    placed.update(dict.fromkeys(left[:number], row))
                    del left[:number]
                if not left:
                    break
        if len(placed) < least:
            return None
        self._timelines.update(changed)
        return placed


@attrs.frozen
class _ConservativePlan:
    """Implements `Plan`.

    Attributes:
        starts: The uid of each pod that may start now -> its row.
    """

    starts: Mapping[str, frozenset[int]]

    def renewed(self) -> Plan:
        """See `Plan`: each pod has its own row, whatever the others do."""
        return self

    def rows_for(self, job: BatchJob) -> frozenset[int]:
        """See `Plan`."""
        return self.starts.get(job.pod.uid, _NO_ROWS)

    def lets(self, job: BatchJob, _least: int) -> bool:
        """See `Plan`."""
        return any(part.pod.uid in self.starts for part in job.parts)


def _kinds(jobs: Iterable[BatchJob]) -> Iterable[Sequence[BatchJob]]:
    """Group jobs with equal requests and requested times."""
    kinds: dict[object, list[BatchJob]] = {}
    for job in jobs:
        kind = tuple(amounts_of(job.pod).items()), job.requested_seconds
        kinds.setdefault(kind, []).append(job)
    return list(kinds.values())
