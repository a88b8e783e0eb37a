"""HeadOfLine: pods are placed strictly in order, and none passes the first."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from quaymaster import (
    ClusterEventWithHint,
    Handle,
    Pod,
    QueuedPodInfo,
    Status,
    hookimpl,
)
from quaymaster.objects import PodGroup

from quaymaster_order.args import HeadOfLineArgs
from quaymaster_order.gangs import refuse_composites
from quaymaster_order.line import Line

__all__ = ["HeadOfLine"]


class HeadOfLine:
    """Gates all pods but the first, which waits until it fits."""

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
        refuse_composites(handle, "HeadOfLine")
        self._line = Line(args, handle)

    @hookimpl
    def start(self) -> None:
        self._line.begin()

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return self._line.gate(pod)[0]

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int]:
        return self._line.rank(queued.pod)

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        return self._line.place(pod)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self._line.replace(pod)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # The line itself activates the next pod.
        return []
