"""How long pods waited, and how much of the nodes they used, over a whole record."""

from collections.abc import Iterable, Mapping
from typing import Final

import attrs
import numpy as np

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._studies.recording.state import Entry

__all__ = ["Course", "PodRun", "RoomMeter", "RunMeter", "course_of"]

_RESOURCES: Final = ("cpu", "memory")


@attrs.frozen(kw_only=True)
class Course:
    """How it went for the pods of a record.

    Attributes:
        placed: How many pods got a node.
        waiting: How many had none in the end.
        pending_p50: For how many seconds a placed pod waited for it, half of them less.
        pending_p99: The same, 99 of 100 less.
        pending_most: The longest such time.
        utilisation: Resource -> the share of what nodes offered that pods on nodes had
            requested, over the whole time.
    """

    placed: int
    waiting: int
    pending_p50: float
    pending_p99: float
    pending_most: float
    utilisation: Mapping[str, float]


@attrs.define(eq=False)
class PodRun:
    """A pod on a node.

    Attributes:
        pod: The pod.
        since: Since when, in seconds since the beginning.
        until: Until when; None if it still is there.
    """

    pod: Pod
    since: float
    until: float | None = None


class RunMeter:
    """Follows the pods of a record.

    Attributes:
        runs: The pods that were on nodes.
    """

    def __init__(self) -> None:
        self.runs: list[PodRun] = []
        self._open: dict[str, PodRun] = {}

    def take(self, entry: Entry) -> None:
        """Follow a change."""
        old, new = entry.old, entry.new
        if isinstance(new, Pod):
            if new.is_finished:
                self._end(new.uid, entry.at)
            elif new.node_name and new.uid not in self._open:
                run = self._open[new.uid] = PodRun(new, entry.at)
                self.runs.append(run)
        if isinstance(old, Pod) and (new is None or new.uid != old.uid):
            self._end(old.uid, entry.at)

    def _end(self, uid: str, at: float) -> None:
        run = self._open.pop(uid, None)
        if run is not None:
            run.until = at


class RoomMeter:
    """Follows what the nodes of a record offer."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[Node, float]] = {}
        self._offered = dict.fromkeys(_RESOURCES, 0.0)

    def take(self, entry: Entry) -> None:
        """Follow a change."""
        if entry.kind is not Node:
            return
        self._close(entry.key, entry.at)
        if isinstance(entry.new, Node):
            self._since[entry.key] = (entry.new, entry.at)

    def offered(self, end: float) -> Mapping[str, float]:
        """Resource -> what there was, times the seconds for which it was there."""
        for key, (node, _) in list(self._since.items()):
            self._close(key, end)
            self._since[key] = (node, end)
        return dict(self._offered)

    def _close(self, key: str, at: float) -> None:
        known = self._since.pop(key, None)
        if known is None:
            return
        node, since = known
        for name in _RESOURCES:
            amount = node.status.allocatable.get(name)
            if amount is not None:
                self._offered[name] += (at - since) * amount.milli_value


def course_of(
    waits: Iterable[float],
    waiting: int,
    runs: Iterable[PodRun],
    offered: Mapping[str, float],
    end: float,
) -> Course:
    """How it went.

    Args:
        waits: For how many seconds each pod that got a node waited for it.
        waiting: How many have none.
        runs: The pods on nodes.
        offered: What the nodes offered, see `RoomMeter.offered`.
        end: The end, in seconds since the beginning.
    """
    used = dict.fromkeys(_RESOURCES, 0.0)
    for run in runs:
        seconds = (end if run.until is None else min(run.until, end)) - run.since
        requested = pod_request_list(run.pod)
        for name in _RESOURCES:
            amount = requested.get(name)
            if amount is not None:
                used[name] += max(0.0, seconds) * amount.milli_value
    ordered = sorted(waits)
    times = np.asarray(ordered or [0.0])
    return Course(
        placed=len(ordered),
        waiting=waiting,
        pending_p50=float(np.percentile(times, 50)),
        pending_p99=float(np.percentile(times, 99)),
        pending_most=float(times[-1]),
        utilisation={
            name: used[name] / offered[name] if offered.get(name) else 0.0
            for name in _RESOURCES
        },
    )
