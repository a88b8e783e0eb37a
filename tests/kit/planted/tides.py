"""A plugin whose nodes are closed until a time, and mistakes in it."""

from collections.abc import Sequence

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PreFilterResult,
    Rows,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.testing import clusters, nodes
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = [
    "OWN",
    "TIDE_MISTAKES",
    "Tides",
    "TidesByTheMinute",
    "TidesInATwin",
    "TidesOfOldPods",
    "TidesOfTheDay",
    "TidesWithoutFilter",
]

UNTIL = "example.com/closed-until"
BEGIN = 1767225600
"""When virtual clocks begin."""

CLOSED = Status.unresolvable("the tide is too low")


class Tides(Plugin):
    """Correct: a timer for each time until which a node is closed."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.due: set[float] = set()

    def open_from(self, node: NodeInfo) -> float:
        """Return the time until which a node is closed."""
        text = node.node.annotations.get(UNTIL, "")
        return float(text) if text.isdecimal() and len(text) < 12 else 0.0

    def is_closed(self, pod: Pod, node: NodeInfo) -> bool:
        """Return whether a node is closed; if it is, wake the pod when it opens."""
        due = self.open_from(node)
        if due <= self.handle.clock.now():
            return False
        self.wake_at(due, pod)
        return True

    def wake_at(self, due: float, pod: Pod) -> None:
        """Set the timer of a time, unless there is one."""
        if due not in self.due:
            self.due.add(due)
            self.handle.clock.call_at(due, lambda: self.wake(due))

    def wake(self, due: float) -> None:
        """Wake the pods that wait for a time."""
        self.due.discard(due)
        self.handle.changed()

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return CLOSED if self.is_closed(pod, node) else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD | Change.UPDATE_NODE_ANNOTATION)]


class TidesWithoutFilter(Plugin):
    """Correct: its pre_filter sets the timers of the nodes that it leaves out."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.tides = Tides(args, handle)

    def is_closed(self, pod: Pod, node: NodeInfo) -> bool:
        """Return whether a node is closed."""
        return self.tides.is_closed(pod, node)

    @hookimpl
    def pre_filter(self, pod: Pod, nodes: NodeTable) -> PreFilterResult | Status | None:
        infos = list(nodes)
        names = frozenset(each.name for each in infos if not self.is_closed(pod, each))
        if len(names) == len(infos):
            return Status.skip()
        return PreFilterResult(node_names=names)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return self.tides.events_to_register()


class TidesInATwin(Tides):
    """Correct: both filters set timers."""

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        infos = nodes.infos_at(rows)
        closed = np.array([self.is_closed_in_twin(pod, each) for each in infos], bool)
        return NodeVerdicts.reject_where(closed, CLOSED) if closed.any() else None

    def is_closed_in_twin(self, pod: Pod, node: NodeInfo) -> bool:
        """Return whether a node is closed; if it is, wake the pod when it opens."""
        return self.is_closed(pod, node)


class TidesByTheMinute(Tides):
    """Correct: it looks at the time each minute, in the background."""

    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(60, self.look, background=True)

    def look(self) -> None:
        """Wake the pods if a node has opened meanwhile, and look again later."""
        now = self.handle.clock.now()
        is_over = {due for due in self.due if due <= now}
        self.due -= is_over
        if is_over:
            self.handle.changed()
        self.start()

    def wake_at(self, due: float, pod: Pod) -> None:
        """Keep a time."""
        self.due.add(due)


class TidesOfTheDay(Tides):
    """Correct: nodes with a time are closed before six o'clock each day."""

    period, most = 86400, 21600

    def open_from(self, node: NodeInfo) -> float:
        """Return when a node opens today; 0 if it is open."""
        now = self.handle.clock.now()
        begin = now // self.period * self.period
        is_closed = UNTIL in node.node.annotations and now < begin + self.most
        return begin + self.most if is_closed else 0.0


class TidesOfOldPods(Tides):
    """Correct: nodes with a time are closed to a pod in its first two hours."""

    def is_closed(self, pod: Pod, node: NodeInfo) -> bool:
        """Return whether a node is closed to a pod."""
        created = pod.metadata.creation_timestamp
        if created is None or UNTIL not in node.node.annotations:
            return False
        if self.handle.clock.now() >= created + 7200:
            return False
        self.wake_at(created + 7200, pod)
        return True


class SetsNoTimer(Tides):
    def wake_at(self, due: float, pod: Pod) -> None:
        pass


class SetsNoTimerOfTheHour(TidesOfTheDay):
    """Its nodes are open in the second half of each hour."""

    period, most = 3600, 1800

    def wake_at(self, due: float, pod: Pod) -> None:
        pass


class SetsOneTimer(Tides):
    """While a timer waits for a late node, it sets none for an earlier one."""

    def wake_at(self, due: float, pod: Pod) -> None:
        if not self.due:
            super().wake_at(due, pod)


class MovesItsTimer(Tides):
    """Its only timer is for the last node that it has seen."""

    def wake_at(self, due: float, pod: Pod) -> None:
        self.due = {due}
        self.handle.clock.call_at(due, lambda: self.wake(due))

    def wake(self, due: float) -> None:
        if due in self.due:
            super().wake(due)


class DelaysByATime(Tides):
    """Its timers are due in 56 years."""

    def wake_at(self, due: float, pod: Pod) -> None:
        if due not in self.due:
            self.due.add(due)
            self.handle.clock.call_later(due, lambda: self.wake(due))


class WakesNobody(Tides):
    def wake(self, due: float) -> None:
        self.due.discard(due)


class KeepsTimes(TidesOfTheDay):
    """Pods of the next day get no timer for a time of the day before."""

    def wake_at(self, due: float, pod: Pod) -> None:
        hour = due % 86400
        if hour not in self.due:
            self.due.add(hour)
            self.handle.clock.call_at(due, self.handle.changed)


class WakesTheFirstPod(Tides):
    """Of the pods that wait for a time, it wakes the first."""

    def wake_at(self, due: float, pod: Pod) -> None:
        if due not in self.due:
            self.due.add(due)
            activate = self.handle.activate
            self.handle.clock.call_at(due, lambda: activate([pod]))


class WaitsInTheBackground(Tides):
    """A simulation does not wait for its timers."""

    def wake_at(self, due: float, pod: Pod) -> None:
        self.handle.clock.call_at(due, self.handle.changed, background=True)


class WakesTooEarly(Tides):
    """Its timer is due before the node opens, and it sets no other."""

    def wake_at(self, due: float, pod: Pod) -> None:
        if due not in self.due:
            self.due.add(due)
            self.handle.clock.call_at(due - 20, self.handle.changed)


class LeavesNodesOut(TidesWithoutFilter):
    """It sets no timer, because its filter is not called for the nodes left out."""

    def is_closed(self, pod: Pod, node: NodeInfo) -> bool:
        return self.tides.open_from(node) > self.handle.clock.now()


class RejectsThePod(TidesWithoutFilter):
    """It rejects the pod if no node is open, and sets no timer."""

    @hookimpl
    def pre_filter(self, pod: Pod, nodes: NodeTable) -> PreFilterResult | Status | None:
        now = self.handle.clock.now()
        is_closed = all(self.tides.open_from(each) > now for each in nodes)
        return CLOSED if is_closed else super().pre_filter(pod, nodes)


class SetsNoTimerInItsTwin(TidesInATwin):
    def is_closed_in_twin(self, pod: Pod, node: NodeInfo) -> bool:
        return self.open_from(node) > self.handle.clock.now()


class SetsNoTimerForNewPods(TidesOfOldPods):
    def wake_at(self, due: float, pod: Pod) -> None:
        pass


TIMES = (BEGIN + 7200, BEGIN + 39600, BEGIN + 180000)
OWN = clusters(nodes=nodes(*({"annotations": {UNTIL: str(time)}} for time in TIMES)))
TIDE_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(plugin, ["timed filters"], OWN)
    for plugin in (
        SetsNoTimer,
        SetsOneTimer,
        LeavesNodesOut,
        DelaysByATime,
        SetsNoTimerInItsTwin,
        MovesItsTimer,
        WakesNobody,
        KeepsTimes,
        SetsNoTimerOfTheHour,
        WakesTheFirstPod,
        WaitsInTheBackground,
        WakesTooEarly,
        RejectsThePod,
        SetsNoTimerForNewPods,
    )
)
