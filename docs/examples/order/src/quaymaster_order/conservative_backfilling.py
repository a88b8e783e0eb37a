"""ConservativeBackfilling: pods pass others if they delay none of them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from quaymaster import (
    ClusterEventWithHint,
    Handle,
    NodeStatuses,
    Pod,
    PreFilterResult,
    QueuedPodInfo,
    Status,
    hookimpl,
)
from quaymaster.hookspecs import PlaceGroup, PodGroupInfo
from quaymaster.objects import PodGroup

from quaymaster_order.args import HeadOfLineArgs
from quaymaster_order.backfilling import Backfilling
from quaymaster_order.conservative import Conservative
from quaymaster_order.gangs import refuse_composites
from quaymaster_order.line import Line
from quaymaster_order.rooms import Rooms

__all__ = ["ConservativeBackfilling"]


class ConservativeBackfilling:
    """As HeadOfLine, with a reservation for each pod that later pods may not delay."""

    Args: ClassVar[type[HeadOfLineArgs]] = HeadOfLineArgs
    reads = (PodGroup,)
    writes = ()
    opens_gates_itself = True
    contract_opt_outs: ClassVar[Mapping[str, str]] = {
        "events": "the line itself activates the next pod, and needs no event",
        "interleaving": "attempts for other pods decide which pod is at the head",
        "staleness": "the order depends on when pods arrived, and on the head before",
    }

    def __init__(self, args: HeadOfLineArgs, handle: Handle) -> None:
        refuse_composites(handle, "ConservativeBackfilling")
        self._line = Line(args, handle, lambda: self._backfilling.forget())
        rooms = Rooms(handle)
        planner = Conservative(rooms, handle, self._line)
        self._backfilling = Backfilling(handle, self._line, rooms, planner)

    @hookimpl
    def start(self) -> None:
        self._line.begin()

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return self._backfilling.gate(pod)

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int]:
        return self._line.rank(queued.pod)

    @hookimpl
    def pre_filter(self, pod: Pod) -> PreFilterResult | None:
        return self._backfilling.restrict(pod)

    @hookimpl
    def post_filter(self, pod: Pod, statuses: NodeStatuses) -> Status:
        self._backfilling.rejected(pod, statuses)
        return Status.unschedulable()

    @hookimpl
    def pod_group_post_filter(self, group: PodGroupInfo, place: PlaceGroup) -> Status:
        self._backfilling.group_rejected(group, place)
        return Status.unschedulable()

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        return self._backfilling.reserve(pod)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self._backfilling.unreserve(pod)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # The line itself activates the next pod.
        return []
