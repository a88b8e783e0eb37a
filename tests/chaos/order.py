"""Checks the order of pops against a plain list of the pods.

The check uses the queue only to find out in which heap a pod is. It records itself
when pods came, when and how often they failed, their turns and their keys.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping

import attrs

from quaymaster import Pod
from quaymaster.scheduler import Clock, QueueName
from tests.chaos.sorts import RULES
from tests.kit.internals.queue import (
    QueuedPod,
    SchedulingQueue,
    backing_off,
    replace_backoff,
    sub_queues_of,
)

__all__ = ["OrderWatch"]


@attrs.define(eq=False)
class _Seen:
    """What the check has recorded for a queued pod.

    Attributes:
        since: When it came, or last failed.
        rejections: The number of attempts that ended with a rejection.
        errors: The number of consecutive attempts that ended with an error.
        turn: Its number among all pods that have entered its heap.
        key: Its key when it entered the heap.
    """

    since: float
    rejections: int = 0
    errors: int = 0
    turn: int = 0
    key: object = None


class OrderWatch:
    """Checks the order in which a queue pops its pods.

    Args:
        queue: The queue; its methods are wrapped from now on.
        clock: The queue's clock.
        sorts: Scheduler name -> its queue sort plugin.
        report: Is called with a message for each pod that is popped out of turn.
    """

    def __init__(
        self,
        queue: SchedulingQueue,
        clock: Clock,
        sorts: Mapping[str, str],
        report: Callable[[str], None],
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._sorts = sorts
        self._report = report
        self._seen: dict[QueuedPod, _Seen] = {}
        self._turns = itertools.count(1)
        self._watch()

    def _watch(self) -> None:
        queue, queues = self._queue, sub_queues_of(self._queue)
        pop, take_back = queue.pop, queue.add_unschedulable
        to_active, to_backoff = queues.to_active, backing_off(queues)
        reposition = queues.reposition

        def popped() -> QueuedPod | None:
            expected = self._first()
            queued = pop()
            if queued is not expected:
                self._report(
                    f"{_name(queued)} was popped, but it was {_name(expected)}'s turn"
                )
            return queued

        def came_back(queued: QueuedPod) -> None:
            seen = self._of(queued)
            seen.since = float(self._clock.now())
            is_rejected = bool(queued.unschedulable_plugins | queued.pending_plugins)
            seen.rejections += is_rejected
            seen.errors = 0 if is_rejected else seen.errors + 1
            take_back(queued)

        def became_active(
            queued: QueuedPod, label: str, *, from_backoff: bool = False
        ) -> bool:
            self._of(queued)
            is_active = to_active(queued, label, from_backoff=from_backoff)
            if is_active:
                self._entered(queued)
            return is_active

        def backs_off(queued: QueuedPod, label: str) -> None:
            to_backoff(queued, label)
            self._entered(queued)

        def moved(queued: QueuedPod) -> None:
            reposition(queued)
            if self._key(queued) != self._of(queued).key:
                self._entered(queued)

        # No other hooks cover all additions and removals.
        vars(queue).update(pop=popped, add_unschedulable=came_back)
        vars(queues).update(to_active=became_active, reposition=moved)
        replace_backoff(queues, backs_off)

    def _of(self, queued: QueuedPod) -> _Seen:
        if queued not in self._seen:
            self._seen[queued] = _Seen(float(self._clock.now()))
        return self._seen[queued]

    def _entered(self, queued: QueuedPod) -> None:
        seen = self._of(queued)
        seen.turn, seen.key = next(self._turns), self._key(queued)

    def _first(self) -> QueuedPod | None:
        """Return the next pod: an active one, or else one that backs off."""
        waiting = list(self._queue)
        active = [queued for queued in waiting if queued.queue is QueueName.ACTIVE]
        if active:
            return self._leader(active, lambda _queued: 0.0)
        backing_off = [
            queued for queued in waiting if queued.queue is QueueName.BACKOFF
        ]
        return self._leader(backing_off, self._end_of_backoff)

    def _leader(
        self, pods: Iterable[QueuedPod], end: Callable[[QueuedPod], float]
    ) -> QueuedPod | None:
        """Return the first of some pods.

        If the profiles have different queue sorts, the first pods of each are
        compared by priority and time.
        """
        leaders: dict[str, QueuedPod] = {}
        for queued in pods:
            sort = self._sorts[queued.pod.spec.scheduler_name]
            leader = leaders.setdefault(sort, queued)
            if self._place(queued, end) < self._place(leader, end):
                leaders[sort] = queued

        def rank(queued: QueuedPod) -> tuple[float, float, float, int]:
            seen = self._of(queued)
            priority = queued.pod.spec.priority or 0
            return end(queued), -priority, seen.since, seen.turn

        return min(leaders.values(), key=rank, default=None)

    def _place(
        self, queued: QueuedPod, end: Callable[[QueuedPod], float]
    ) -> tuple[float, tuple[str, float, float], int]:
        return end(queued), self._key(queued), self._of(queued).turn

    def _key(self, queued: QueuedPod) -> tuple[str, float, float]:
        pod: Pod = queued.pod
        sort = self._sorts[pod.spec.scheduler_name]
        return RULES[sort](pod, self._of(queued).since)

    def _end_of_backoff(self, queued: QueuedPod) -> float:
        """Return the end of a pod's backoff: of 1, 2, 4, 8, then always 10 seconds."""
        seen = self._of(queued)
        failures = seen.errors or seen.rejections
        return math.floor(seen.since + min(10.0, 2.0 ** (failures - 1)))


def _name(queued: QueuedPod | None) -> str:
    return "nobody" if queued is None else queued.key
