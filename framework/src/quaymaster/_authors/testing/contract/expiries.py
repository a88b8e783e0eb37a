"""Checks that timers of earlier data from outside have no effect on later ones."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.instances import Difference, differences
from quaymaster._authors.testing.contract.readings import data_of
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.clock import VIRTUAL_START, Timer, VirtualClock

__all__ = ["ask_expiries"]

_READING_SECONDS: Final = (0.0, 7.3)
"""The times that readings take, in turns: so timers of several periods are not due at
the same time."""

_MOST_READINGS: Final = 64
_MOST_TIMERS: Final = 12
"""The timers that may run until the next reading."""

_MOST_COMPARED: Final = 16
"""So often an instance is compared with a new one."""


class _ListingClock(VirtualClock):
    """A clock that lists its timers, and may stand still for readings.

    Args:
        stands_still: Whether `reading` shows the time at the beginning. Data that
            change with the time then stay the same.
    """

    def __init__(self, *, stands_still: bool) -> None:
        super().__init__()
        self._listed: list[Timer] = []
        self._stands_still = stands_still
        self._is_reading = False

    def now(self) -> float:
        return VIRTUAL_START if self._is_reading else super().now()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let tasks read data in the block."""
        self._is_reading = self._stands_still
        try:
            yield
        finally:
            self._is_reading = False

    def call_at(
        self, due: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        timer = super().call_at(due, callback, background=background)
        self._listed.append(timer)
        return timer

    def live_timers(self) -> Sequence[Timer]:
        """Return the timers that are neither due yet nor cancelled."""
        self._listed = [timer for timer in self._listed if timer.callback is not None]
        return tuple(self._listed)


def ask_expiries(subject: Subject, cluster: SmallCluster) -> None:
    """Check that timers which were set before the last data arrived discard nothing.

    An instance is compared with a new one that has read the same data, before and after
    each of these timers.

    Args:
        subject: The plugin.
        cluster: The cluster.

    Raises:
        Finding: They are equal before the timer, and differ after it.
    """
    for stands_still in (True, False):
        _ask(subject, cluster, _ListingClock(stands_still=stands_still))


def _ask(subject: Subject, cluster: SmallCluster, clock: _ListingClock) -> None:
    executor = HeldExecutor(is_holding=True)
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, clock=clock, executor=executor)
    bench = Bench(subject, cluster, services=services)
    run = _Run(bench, clock, executor, cluster.pending)
    for seconds in islice(cycle(_READING_SECONDS), _MOST_READINGS):
        if not run.wait_for_a_task():
            return
        run.pass_time(seconds)
        with clock.reading():
            executor.run_tasks()
        run.earlier = clock.live_timers()
        executor.deliver_results()
        if not data_of(executor) or run.compared >= _MOST_COMPARED:
            return


@attrs.define(eq=False)
class _Run:
    """A plugin that reads data again and again.

    Attributes:
        bench: The plugin and its cluster.
        clock: Its clock.
        executor: Holds its readings.
        pods: The pods that wait.
        earlier: The timers that were set before the last data arrived.
        compared: How often the instance was compared with a new one.
    """

    bench: Bench
    clock: _ListingClock
    executor: HeldExecutor
    pods: Sequence[Pod]
    earlier: Sequence[Timer] = ()
    compared: int = 0

    def wait_for_a_task(self) -> bool:
        """Run timers until there is a reading; return whether there is one."""
        for _ in range(_MOST_TIMERS):
            due = self.clock.next_due()
            if self.executor.has_tasks or due is None:
                break
            self._pass_to(due)
        return self.executor.has_tasks

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        end = self.clock.now() + seconds
        while (due := self.clock.next_due()) is not None and due <= end:
            self._pass_to(due)
        self._pass_to(end)

    def _pass_to(self, time: float) -> None:
        """Let time pass up to the next timer, or to a moment before it."""
        is_earlier = any(
            timer.callback is not None and timer.due <= time for timer in self.earlier
        )
        before = self._compared() if is_earlier else None
        self.bench.advance(max(0.0, time - self.clock.now()))
        after = self._compared() if before is not None else None
        for pod in self.pods:
            if before is not None and after and pod.key in after.keys() - before.keys():
                hook, problem = after[pod.key]
                text = (
                    f"{problem} as from a new instance that has read the same data, "
                    "once a timer was due that had been set before these data "
                    "arrived: whenever data arrive, cancel the timer that would "
                    "discard the data before, and set it again"
                )
                cluster = self.bench.snapshot
                fail(hook, text, pod, [info.node for info in cluster])

    def _compared(self) -> dict[str, Difference] | None:
        """Compare the instance with a new one; None unless both have the same data."""
        if self.compared >= _MOST_COMPARED:
            return None
        self.compared += 1
        executor, subject = HeldExecutor(is_holding=True), self.bench.subject
        services = attrs.evolve(self.bench.services, shared={}, executor=executor)
        renewed = Bench(
            subject, SmallCluster(), services=services, room=self.bench.room
        )
        try:
            with self.clock.reading():
                executor.run_tasks()
            executor.release()
            if not self._has_same_data(executor):
                return None
            return dict(differences(self.bench, renewed, self.pods))
        finally:
            # Its timers must not run beside those of the old one.
            if renewed in subject.benches:
                subject.benches.remove(renewed)
                renewed.close()

    def _has_same_data(self, other: HeldExecutor) -> bool:
        data = other.outcomes
        with suppress(Exception):  # such as arrays, which do not compare
            return bool(data) and self.executor.outcomes[-len(data) :] == data
        return False
