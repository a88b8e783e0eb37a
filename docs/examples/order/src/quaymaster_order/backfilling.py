"""Backfilling: jobs may pass the head of the line if they delay no reservation.

A job is a pod, or the pods of a PodGroup that have to start together.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from quaymaster import Code, Handle, NodeStatuses, Pod, PreFilterResult, Status
from quaymaster.hookspecs import PlaceGroup, PodGroupInfo

from quaymaster_order.jobs import BatchJob
from quaymaster_order.line import Line
from quaymaster_order.reservations import NEVER, Reservation, Reservations
from quaymaster_order.rooms import Rooms

__all__ = ["Backfilling", "Plan", "Planner"]


class Plan(Protocol):
    """The reservations at one moment."""

    def rows_for(self, job: BatchJob) -> frozenset[int]:
        """Return the rows where a pod may start now without a delay of reservations.

        Called for jobs in the order in which they may pass.
        """

    def lets(self, job: BatchJob, least: int) -> bool:
        """Whether a job may be tried now: enough of its pods may have rows.

        Args:
            job: The job.
            least: How many of its pods have to start together.
        """

    def renewed(self) -> "Plan":
        """Return the plan after another pod of a PodGroup was placed."""


class Planner(Protocol):
    """Makes plans."""

    def __call__(self, head: BatchJob, reservation: Reservation) -> Plan:
        """Make reservations, once the head has found no node.

        Args:
            head: The head.
            reservation: When the head can start, and where.
        """


class Backfilling:
    """Lets jobs pass the head one after the other, as long as a plan allows it.

    Args:
        handle: The handle of the plugin.
        line: The waiting jobs.
        rooms: The room of nodes.
        planner: Makes plans.
        by_arrival: Whether jobs may pass in the order of their arrival, and not in that
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
        self._reservations = Reservations(handle, rooms)
        self._plan: Plan | None = None
        # For a pod at the head: the nodes that it could have if pods on them ended. For
        # a PodGroup: its reservation, which others do not delay.
        self._head_rows: tuple[int, ...] = ()
        self._of_gang = NEVER
        # The jobs that have not been looked at since the head was rejected.
        self._left: Iterator[BatchJob] = iter(())
        self._is_searching = False
        self._names: frozenset[str] = frozenset()
        handle.informers.on_change(Pod, self._changed)

    def forget(self) -> None:
        """Drop the plan: another job is at the head, and has not been tried."""
        self._plan = None
        self._left = iter(())
        self._is_searching = False

    # Hooks --------------------------------------------------------------------------

    def gate(self, pod: Pod) -> Status | None:
        """Gate a pod, unless it may be tried; see PreEnqueue."""
        status, arrived = self._line.gate(pod)
        if arrived is None or self._plan is None or self._is_searching:
            return status
        # The search that follows the rejection of the head is over, so the new job is
        # the only one whose turn may have come.
        self._make_plan()
        if not self._may_pass(arrived):
            return status
        self._line.let(arrived)
        self._is_searching = True
        return None

    def restrict(self, pod: Pod) -> PreFilterResult | None:
        """Restrict a pod that passes the head to the nodes that are left to it."""
        if not self._line.is_passing(pod):
            return None
        member = self._line.member(pod)
        if member is not None:
            # The pods of its PodGroup before it have taken room.
            assert self._plan is not None, "it was let by a plan"
            self._plan = self._plan.renewed()
            self._names = self._names_at(self._plan.rows_for(member))
        return PreFilterResult(self._names)

    def rejected(self, pod: Pod, statuses: NodeStatuses) -> None:
        """Note that a pod has found no node; look for a job that may pass the head."""
        if self._line.is_head(pod):
            self._head_rows = tuple(statuses.rows_with(Code.UNSCHEDULABLE).tolist())
            self._search()
        elif self._line.is_passing(pod):
            self._next()

    def group_rejected(self, group: PodGroupInfo, place: PlaceGroup) -> None:
        """Note the same of a PodGroup: too few of its pods have found a node."""
        first = group.pods[0]
        if self._line.is_head(first):
            jobs = ((pod.uid, self._line.member(pod)) for pod in group.pods)
            members = {uid: job for uid, job in jobs if job is not None}
            head = self._line.head
            assert head is not None, "it is this group"
            least = self._line.least(head)
            self._of_gang = self._reservations.for_gang(members, least, place)
            self._search()
        elif self._line.is_passing(first):
            self._next()

    def reserve(self, pod: Pod) -> Status | None:
        """Note that a pod has a node; see Reserve."""
        status = self._line.place(pod)
        # A PodGroup may lose its nodes again: its pods count when they are bound.
        if status is not None or self._line.is_in_group(pod):
            return status
        self._rooms.start(pod)
        if self._is_searching:
            self._resume()
        return None

    def unreserve(self, pod: Pod) -> None:
        """Note that a pod has lost its node before it was bound."""
        if not self._line.is_in_group(pod):
            self._rooms.stop(pod)
            self._line.replace(pod)

    # Search -------------------------------------------------------------------------

    def _search(self) -> None:
        """Begin to look for jobs that may pass the head, the first one first."""
        self._make_plan()
        jobs = self._line.behind()
        # A copy: the line changes while these jobs are tried.
        self._left = iter(list(jobs) if self._by_arrival else self._line.ordered(jobs))
        self._is_searching = True
        self._next()

    def _resume(self) -> None:
        """Look for the next job: one has passed, and has taken room."""
        self._make_plan()
        self._next()

    def _next(self) -> None:
        """Open the gate for the next job that may pass; end the search after the last.

        One job after the other: each takes room from the next ones.
        """
        self._line.let(None)
        for job in self._left:
            newest = self._line.newest(job)
            if newest is not None and self._may_pass(newest):
                self._line.open(newest)
                return
        self._is_searching = False

    def _make_plan(self) -> None:
        head = self._line.head
        assert head is not None, "there is a plan only behind a head"
        reservation = self._of_gang
        if not head.members:
            reservation = self._reservations.for_pod(head, self._head_rows)
        self._plan = self._planner(head, reservation)

    def _may_pass(self, job: BatchJob) -> bool:
        assert self._plan is not None, "there is a plan during a search"
        if not self._plan.lets(job, self._line.least(job)):
            return False
        if not job.members:
            self._names = self._names_at(self._plan.rows_for(job))
        return True

    def _names_at(self, rows: Iterable[int]) -> frozenset[str]:
        infos = self._handle.snapshot.nodes.infos
        return frozenset(info.name for row in rows if (info := infos[row]) is not None)

    def _changed(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None and new.node_name and not new.is_finished:
            self._rooms.start(new)
        else:
            pod = new or old
            assert pod is not None, "a change has an object"
            if self._rooms.stop(pod):
                # The head comes first. If it is rejected again, others may pass it.
                self._line.retry_head()
        if self._is_searching and self._line.has_passed:
            self._resume()
