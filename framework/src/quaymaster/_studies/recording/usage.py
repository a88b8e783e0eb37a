"""Measures waiting times of pods and utilisation of nodes over a whole record."""

from collections.abc import Iterable, Mapping
from typing import Final

import attrs
import numpy as np

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._studies.recording.state import Entry

__all__ = ["RESOURCES", "Course", "PodRun", "RoomMeter", "RunMeter", "course_of"]

RESOURCES: Final = ("cpu", "memory")


@attrs.frozen(kw_only=True)
class Course:
    """The course of a record: waiting times and utilisation.

    Attributes:
        placed: How many pods got a node.
        waiting: How many were pending in the end.
        pending_p50: The median of the seconds that placed pods waited for a node.
        pending_p99: The 99th percentile of these times.
        pending_most: The longest of these times.
        utilisation: Resource -> the requested share of what nodes offered, over the
            whole time.
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
        since: The start, in seconds since the beginning.
        until: The end; None if it is still there.
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
    """Measures what the nodes of a record offer."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[Node, float]] = {}
        self._offered = dict.fromkeys(RESOURCES, 0.0)

    def take(self, entry: Entry) -> None:
        """Follow a change."""
        if entry.kind is not Node:
            return
        self._close(entry.key, entry.at)
        if isinstance(entry.new, Node):
            self._since[entry.key] = (entry.new, entry.at)

    def offered(self, end: float) -> Mapping[str, float]:
        """Return for each resource the offered amounts times their seconds."""
        for key, (node, _) in list(self._since.items()):
            self._close(key, end)
            self._since[key] = (node, end)
        return dict(self._offered)

    def _close(self, key: str, at: float) -> None:
        entry = self._since.pop(key, None)
        if entry is None:
            return
        node, since = entry
        for name in RESOURCES:
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
    """Return the course.

    Args:
        waits: The seconds that each placed pod waited for its node.
        waiting: How many pods are pending.
        runs: The pods on nodes.
        offered: The offer of the nodes, see `RoomMeter.offered`.
        end: The end, in seconds since the beginning.
    """
    used = dict.fromkeys(RESOURCES, 0.0)
    for run in runs:
        seconds = (end if run.until is None else min(run.until, end)) - run.since
        requested = pod_request_list(run.pod)
        for name in RESOURCES:
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
            for name in RESOURCES
        },
    )
