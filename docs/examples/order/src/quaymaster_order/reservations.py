"""When the head of the line can start, and where."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Final

import attrs
from quaymaster import Handle, Pod, Status
from quaymaster.hookspecs import MemberAttempt, PlaceGroup

from quaymaster_order.jobs import BatchJob
from quaymaster_order.rooms import Rooms, amounts_of, least_of

__all__ = ["NEVER", "Reservation", "Reservations"]


@attrs.frozen
class Reservation:
    """Room for the head.

    Attributes:
        at: When it begins; infinite if the head can never start.
        shares: Row of a node -> the pods of the head that start there.
    """

    at: float
    shares: Mapping[int, Sequence[BatchJob]]


NEVER: Final = Reservation(math.inf, {})
"""The head can never start, so that nothing can delay it."""


@attrs.frozen
class Reservations:
    """Finds when the head of the line can start.

    Attributes:
        handle: The handle of the plugin.
        rooms: The room of nodes.
    """

    handle: Handle
    rooms: Rooms

    def for_pod(self, head: BatchJob, rows: Iterable[int]) -> Reservation:
        """Return the earliest room for a pod.

        Args:
            head: The pod.
            rows: The nodes that it could have if pods on them ended.
        """
        request = amounts_of(head.pod)
        best = NEVER
        for row in rows:
            info = self.handle.snapshot.nodes.infos[row]
            if info is None:
                continue
            timeline = self.rooms.timeline(info, request)
            at = timeline.earliest(request, head.requested_seconds)
            if at < best.at:
                best = Reservation(at, {row: (head,)})
        return best

    def for_gang(
        self, members: Mapping[str, BatchJob], least: int, place: PlaceGroup
    ) -> Reservation:
        """Return when enough pods of a PodGroup can start together.

        The scheduler itself places the group, without the pods that have ended by then.
        So all filters and placements count, and not only room.

        Args:
            members: The uid of each waiting pod -> its job.
            least: How many of them have to start together.
            place: Places the group.
        """
        with self.handle.trial() as trial:
            future = _Future(self._ends(), trial.remove_pod, trial.add_pod, place)
            first = self._first_room(future.times, members.values(), least)
            found = future.earliest(first)
        if found is None:
            return NEVER
        at, attempts = found
        nodes = self.handle.snapshot.nodes
        shares: dict[int, list[BatchJob]] = {}
        for attempt in attempts:
            row = nodes.row_of(attempt.node_name)
            if row is not None and attempt.pod.uid in members:
                shares.setdefault(row, []).append(members[attempt.pod.uid])
        return Reservation(at, shares)

    def _ends(self) -> Mapping[float, Sequence[Pod]]:
        """Return the pods that will end, by the time; the first is the current one."""
        ends: dict[float, list[Pod]] = {self.handle.clock.now(): []}
        nodes = (info for info in self.handle.snapshot.nodes.infos if info is not None)
        for pod in chain.from_iterable(info.pods.values() for info in nodes):
            end = self.rooms.end_of(pod)
            if end < math.inf:
                ends.setdefault(end, []).append(pod)
        return dict(sorted(ends.items()))

    def _first_room(
        self, times: Sequence[float], members: Iterable[BatchJob], least: int
    ) -> int:
        """Return the index of the first time with enough room, if only that counts.

        Trying to place the group takes much longer than this estimate.
        """
        request = least_of(amounts_of(member.pod) for member in members)
        more = [0] * len(times)
        for info in self.handle.snapshot.nodes.infos:
            if info is None:
                continue
            timeline = self.rooms.timeline(info, request)
            before = 0
            for at in timeline.times:
                # Nothing is reserved, so that room only grows.
                number = timeline.count(request, at, 0)
                index = bisect_left(times, at)
                if number > before and index < len(times):
                    more[index] += number - before
                    before = number
        return next(
            (index for index, n in enumerate(accumulate(more)) if n >= least),
            len(times),
        )


class _Future:
    """The cluster at later times, when pods have ended.

    Args:
        ends: When pods end, in this order.
        remove: Removes a pod from the snapshot.
        add: Adds it again.
        place: Places the group.

    Attributes:
        times: When pods end, ascending; first the current time.
    """

    def __init__(
        self,
        ends: Mapping[float, Sequence[Pod]],
        remove: Callable[[Pod], None],
        add: Callable[[Pod], None],
        place: PlaceGroup,
    ) -> None:
        self.times = list(ends)
        self._pods = list(ends.values())
        self._remove = remove
        self._add = add
        self._place = place
        # How many entries of these lists are removed.
        self._removed = 0

    def earliest(self, first: int) -> tuple[float, Sequence[MemberAttempt]] | None:
        """Return the earliest time at which the group fits, and its pods with nodes.

        Args:
            first: The index of the earliest time that is possible. Mostly this is it.
        """
        last = len(self.times) - 1
        if first > last:
            return None
        placed = self._placed(first)
        if placed is not None:
            return self.times[first], placed
        best = self._placed(last) if last > first else None
        if best is None:
            return None
        # The group fits at the time `last`, and not at the time `first`.
        while last - first > 1:
            middle = (first + last) // 2
            placed = self._placed(middle)
            if placed is None:
                first = middle
            else:
                last, best = middle, placed
        return self.times[last], best

    def _placed(self, index: int) -> Sequence[MemberAttempt] | None:
        while self._removed <= index:
            for pod in self._pods[self._removed]:
                self._remove(pod)
            self._removed += 1
        while self._removed > index + 1:
            self._removed -= 1
            for pod in self._pods[self._removed]:
                self._add(pod)
        placed = self._place()
        return None if isinstance(placed, Status) else placed
