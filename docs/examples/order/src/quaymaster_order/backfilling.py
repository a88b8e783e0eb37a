"""Backfilling: pods may pass the head of the line if they delay no reservation.

EASY backfilling has one reservation, for the head ("The ANL/IBM SP scheduling system",
1995). Conservative backfilling has one for each waiting pod ("Utilization,
predictability, workloads, and user runtime estimates", 2001).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

import attrs
from quaymaster import Code, Handle, NodeStatuses, Pod, PreFilterResult, Status

from quaymaster_order.jobs import BatchJob
from quaymaster_order.line import Line
from quaymaster_order.rooms import Rooms, amounts_of
from quaymaster_order.timeline import Timeline

__all__ = ["Backfilling", "Conservative", "Easy", "Plan", "Planner"]

_NO_ROWS: Final[frozenset[int]] = frozenset()


class Plan(Protocol):
    """The reservations at one moment."""

    def rows_for(self, job: BatchJob) -> frozenset[int]:
        """Return the rows where a job may start now without a delay of reservations.

        Called for jobs in the order in which they may pass.
        """


class Planner(Protocol):
    """Makes plans."""

    def __call__(self, head: BatchJob, rows: Iterable[int]) -> Plan:
        """Make reservations, once the head has found no node.

        Args:
            head: The head.
            rows: The nodes that the head could have if pods on them ended.
        """


class Backfilling:
    """Lets pods pass the head one after the other, as long as a plan allows it.

    Args:
        handle: The handle of the plugin.
        line: The waiting pods.
        rooms: The room of nodes.
        planner: Makes reservations.
        by_arrival: Whether pods may pass in the order of their arrival, and not in that
            of the policy.
    """

    def __init__(
        self,
        handle: Handle,
        line: Line,
        rooms: Rooms,
        planner: Planner,
        *,
        by_arrival: bool = False,
    ) -> None:
        self._by_arrival = by_arrival
        self._handle = handle
        self._line = line
        self._rooms = rooms
        self._planner = planner
        self._plan: Plan | None = None
        self._head_rows: tuple[int, ...] = ()
        # The jobs that have not been looked at since the head was rejected.
        self._left: Iterator[BatchJob] = iter(())
        self._is_searching = False
        self._names: frozenset[str] = frozenset()
        handle.informers.on_change(Pod, self._changed)

    def forget(self) -> None:
        """Drop the plan: another pod is at the head, and has not been tried."""
        self._plan = None
        self._left = iter(())
        self._is_searching = False

    def gate(self, pod: Pod) -> Status | None:
        """Gate a pod, unless it may be tried; see PreEnqueue."""
        status, arrived = self._line.gate(pod)
        head = self._line.head
        if arrived is None or head is None or self._plan is None or self._is_searching:
            return status
        # The search that follows the rejection of the head is over, so the new pod is
        # the only one whose turn may have come.
        self._plan = self._planner(head, self._head_rows)
        if not self._may_pass(arrived):
            return status
        self._line.allowed = pod.uid
        self._is_searching = True
        return None

    def restrict(self, pod: Pod) -> PreFilterResult | None:
        """Restrict a pod that passes the head to the nodes that are left to it."""
        if pod.uid != self._line.allowed:
            return None
        return PreFilterResult(self._names)

    def rejected(self, pod: Pod, statuses: NodeStatuses) -> None:
        """Note that a pod has found no node; look for one that may pass the head."""
        head = self._line.head
        if head is not None and head.pod.uid == pod.uid:
            self._head_rows = tuple(statuses.rows_with(Code.UNSCHEDULABLE).tolist())
            self._search()
        elif pod.uid == self._line.allowed:
            self._next()

    def placed(self, pod: Pod) -> None:
        """Note that a pod that passed the head has its node; look for the next one."""
        self._rooms.start(pod)
        if self._is_searching:
            head = self._line.head
            assert head is not None, "there is a search only behind a head"
            self._plan = self._planner(head, self._head_rows)
            self._next()

    def lost(self, pod: Pod) -> None:
        """Note that a pod has lost its node before it was bound."""
        self._rooms.stop(pod)
        self._line.replace(pod)

    def _search(self) -> None:
        """Begin to look for pods that may pass the head, the first one first."""
        head = self._line.head
        assert head is not None, "it has just been rejected"
        self._plan = self._planner(head, self._head_rows)
        jobs = self._line.behind()
        # A copy: the line changes while these pods are tried.
        self._left = iter(list(jobs) if self._by_arrival else self._line.ordered(jobs))
        self._is_searching = True
        self._next()

    def _next(self) -> None:
        """Open the gate for the next pod that may pass; end the search after the last.

        One pod after the other: each takes room from the next ones.
        """
        self._line.allowed = ""
        for job in self._left:
            if self._line.waits(job) and self._may_pass(job):
                self._line.open(job)
                return
        self._is_searching = False

    def _may_pass(self, job: BatchJob) -> bool:
        assert self._plan is not None, "there is a plan during a search"
        rows = self._plan.rows_for(job)
        infos = self._handle.snapshot.nodes.infos
        self._names = frozenset(
            info.name for row in rows if (info := infos[row]) is not None
        )
        return bool(self._names)

    def _changed(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None and new.node_name and not new.is_finished:
            self._rooms.start(new)
            return
        pod = new or old
        assert pod is not None, "a change has an object"
        if self._rooms.stop(pod):
            # The head comes first. If it is rejected again, others may pass it.
            self._line.retry_head()


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

    def __call__(self, head: BatchJob, rows: Iterable[int]) -> Plan:
        """Reserve the node where the head can start first; see `Planner`."""
        request = amounts_of(head.pod)
        best = _Reservation(-1, math.inf, None)
        for row in rows:
            info = self.handle.snapshot.nodes.infos[row]
            if info is None:
                continue
            timeline = self.rooms.timeline(info, request)
            at = timeline.earliest(request, head.requested_seconds)
            if at < best.at:
                best = _Reservation(row, at, timeline)
        if best.timeline is not None:
            best.timeline.take(request, best.at, head.requested_seconds)
        return _EasyPlan(self, best, self.handle.clock.now())


@attrs.frozen
class _Reservation:
    """Room for the head.

    Attributes:
        row: The node.
        at: When it begins.
        timeline: What the node has left beside it, or None without a reservation.
    """

    row: int
    at: float
    timeline: Timeline | None


@attrs.define
class _EasyPlan:
    planner: Easy
    reservation: _Reservation
    now: float

    def rows_for(self, job: BatchJob) -> frozenset[int]:
        request = amounts_of(job.pod)
        rows = frozenset(self.planner.rooms.rows_with(request).tolist())
        reserved = self.reservation
        if reserved.row not in rows or self._ends_in_time(job):
            return rows
        if self.planner.spare_room and self._is_spare(job, request):
            return rows
        return rows - {reserved.row}

    def _ends_in_time(self, job: BatchJob) -> bool:
        end = self.now + job.requested_seconds + self.planner.margin
        return end <= self.reservation.at

    def _is_spare(self, job: BatchJob, request: Mapping[str, int]) -> bool:
        timeline = self.reservation.timeline
        assert timeline is not None, "the row is reserved"
        # Resources that the head does not request are not reserved.
        return timeline.fits(request, self.now, job.requested_seconds)


@attrs.frozen
class Conservative:
    """Reserves room for each waiting pod, in the order of the policy.

    Attributes:
        rooms: The room of nodes.
        handle: The handle of the plugin.
        line: The waiting pods.
    """

    rooms: Rooms
    handle: Handle
    line: Line

    def __call__(self, head: BatchJob, rows: Iterable[int]) -> Plan:
        """Make the reservations; see `Planner`."""
        jobs = [head, *self.line.ordered(self.line.behind())]
        requests = {job.pod.uid: amounts_of(job.pod) for job in jobs}
        names = {name for request in requests.values() for name in request}
        infos = self.handle.snapshot.nodes.infos
        timelines = {
            row: self.rooms.timeline(info, names)
            for row, info in enumerate(infos)
            if info is not None
        }
        now, allowed = self.handle.clock.now(), frozenset(rows)
        starts: dict[str, frozenset[int]] = {}
        for job in jobs:
            among = allowed if job is head else timelines.keys()
            request = requests[job.pod.uid]
            seconds = job.requested_seconds
            times = {row: timelines[row].earliest(request, seconds) for row in among}
            first = min(times, key=lambda row: (times[row], row), default=-1)
            if first < 0 or times[first] == math.inf:
                continue
            timelines[first].take(request, times[first], seconds)
            if times[first] == now and job is not head:
                starts[job.pod.uid] = frozenset({first})
        return _ConservativePlan(starts)


@attrs.frozen
class _ConservativePlan:
    starts: Mapping[str, frozenset[int]]

    def rows_for(self, job: BatchJob) -> frozenset[int]:
        return self.starts.get(job.pod.uid, _NO_ROWS)
