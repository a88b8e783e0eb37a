"""A plugin that holds pods back until a time, and mistakes in it."""

from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Pod,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["CURFEW_MISTAKES", "OWN", "Curfews"]

UNTIL = "example.com/until"
CLOSED = Status.unresolvable("the pod is held back until later")
BEGIN = 1767225600
"""When virtual clocks begin."""


class Curfews(Plugin):
    """Correct: an annotation has the time at which a pod may be tried."""

    opens_gates_itself = True

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.due: set[float] = set()

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        text = pod.annotations.get(UNTIL, "")
        due = float(text) if text.isdecimal() and len(text) < 12 else 0.0
        if due <= self.handle.clock.now():
            return None
        if due not in self.due:
            self.due.add(due)
            self.handle.clock.call_at(due, lambda: self.open(due))
        return CLOSED

    def open(self, due: float) -> None:
        """Wake the pods of a time."""
        self.due.discard(due)
        self.handle.changed()

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod.target(Change.UPDATE)]


class FollowsLabels(Curfews):
    """Its gate depends on an annotation, not on a label."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod.target(Change.UPDATE_POD_LABEL)]


class OpensForNobody(Curfews):
    def open(self, due: float) -> None:
        self.due.discard(due)


class SetsATimerOnce(Curfews):
    """It sets no timer while it waits for another one."""

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        if self.due:
            text = pod.annotations.get(UNTIL, "0")
            is_late = text.isdecimal() and len(text) < 12
            late = is_late and float(text) > self.handle.clock.now()
            return CLOSED if late else None
        return super().pre_enqueue(pod)


OWN = clusters(
    pods=pods(
        *({"annotations": {UNTIL: str(BEGIN + hours * 3600)}} for hours in (0, 3, 9))
    )
)
CURFEW_MISTAKES: Sequence[Mistake] = (
    Mistake(FollowsLabels, ["events"], OWN),
    Mistake(OpensForNobody, ["timed gates"], OWN),
    Mistake(SetsATimerOnce, ["timed gates"], OWN),
)
