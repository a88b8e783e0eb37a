"""EASY backfilling: a reservation for the head of the line alone.

"The ANL/IBM SP scheduling system" (1995).
"""

from collections.abc import Iterable, Mapping

import attrs
from quaymaster import Handle

from quaymaster_order.backfilling import Plan
from quaymaster_order.jobs import BatchJob
from quaymaster_order.reservations import Reservation
from quaymaster_order.rooms import Rooms, amounts_of, least_of
from quaymaster_order.timeline import Timeline

__all__ = ["Easy"]


@attrs.frozen
class Easy:
    """Reserves room for the head alone.

    Attributes:
        rooms: The room of nodes.
        handle: The handle of the plugin.
        spare_room: Whether a pod may take room that the head leaves.
        margin: How much earlier than the reservation a pod has to end, in seconds.
    """

    rooms: Rooms
    handle: Handle
    spare_room: bool
    margin: float

    def __call__(self, head: BatchJob, reservation: Reservation) -> Plan:
        """Keep the reservation of the head free; see `Planner`."""
        now = self.handle.clock.now()
        at = max(now, reservation.at)
        names = _names(head)
        reserved: dict[int, Timeline] = {}
        for row, jobs in reservation.shares.items():
            info = self.handle.snapshot.nodes.infos[row]
            if info is None:
                continue
            reserved[row] = timeline = self.rooms.timeline(info, names)
            for job in jobs:
                timeline.take(amounts_of(job.pod), at, job.requested_seconds)
        return _EasyPlan(self, head, reservation, reserved, at, now)


@attrs.frozen
class _EasyPlan:
    """Implements `Plan`.

    Attributes:
        planner: See `Easy`.
        head: The head.
        reservation: Its reservation.
        reserved: Row -> what a node with a reservation has left beside it.
        at: When the reservation begins.
        now: The current time.
    """

    planner: Easy
    head: BatchJob
    reservation: Reservation
    reserved: Mapping[int, Timeline]
    at: float
    now: float

    def renewed(self) -> Plan:
        """See `Plan`."""
        return self.planner(self.head, self.reservation)

    def rows_for(self, job: BatchJob) -> frozenset[int]:
        """See `Plan`."""
        request = amounts_of(job.pod)
        rows = frozenset(self.planner.rooms.rows_with(request).tolist())
        if self._ends_in_time(job.requested_seconds):
            return rows
        late = [
            row
            for row, timeline in self.reserved.items()
            if row in rows and not self._is_spare(timeline, job, request)
        ]
        return rows.difference(late) if late else rows

    def lets(self, job: BatchJob, least: int) -> bool:
        """See `Plan`."""
        if not job.members:
            return bool(self.rows_for(job))
        request = least_of(amounts_of(member.pod) for member in job.members)
        seconds = min(member.requested_seconds for member in job.members)
        in_time = self._ends_in_time(seconds)
        for row in self.planner.rooms.rows_with(request).tolist():
            number = self.planner.rooms.number_with(request, row)
            timeline = self.reserved.get(row)
            if timeline is not None and not in_time:
                spare = 0
                if self.planner.spare_room:
                    spare = timeline.count(request, self.now, seconds)
                number = min(number, spare)
            least -= number
            if least <= 0:
                return True
        return False

    def _ends_in_time(self, seconds: float) -> bool:
        return self.now + seconds + self.planner.margin <= self.at

    def _is_spare(
        self, timeline: Timeline, job: BatchJob, request: Mapping[str, int]
    ) -> bool:
        # Resources that the head does not request are not reserved.
        return self.planner.spare_room and timeline.fits(
            request, self.now, job.requested_seconds
        )


def _names(job: BatchJob) -> Iterable[str]:
    """Return the resources that the pods of a job request."""
    return dict.fromkeys(name for part in job.parts for name in amounts_of(part.pod))
