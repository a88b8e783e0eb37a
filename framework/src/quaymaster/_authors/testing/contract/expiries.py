"""Checks of the timers by which a plugin discards data from outside."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import cycle, islice
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.failing_readings import FailingReadings
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

_ALTERNATELY: Final = (False, True, False, True, True)
"""Which readings fail, again and again."""

_AT_LAST: Final = (False, True, False)
"""Which readings fail before all further ones do."""

_ENOUGH: Final = 4
"""The clusters on which data that are discarded make a difference."""

_DISCARDED: Final = "clusters whose data are discarded while readings fail"

_MOST_FAILED: Final = 200
_MOST_PERIODS: Final = 3
"""So many times the age of data, readings fail."""


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
        if not _ask(subject, cluster, _ListingClock(stands_still=stands_still)):
            return
    failing = FailingReadings()
    alike = failing.of(subject)
    try:
        _ask_failing(alike, cluster, failing)
    finally:
        subject.exercised["failed readings"] += failing.count
        alike.close()


def _ask_failing(
    subject: Subject, cluster: SmallCluster, failing: FailingReadings
) -> None:
    """Ask the same while readings fail now and then, or from some time on."""
    counts = subject.exercised
    if counts[_DISCARDED] >= _ENOUGH:
        return
    clock = _ListingClock(stands_still=True)
    if _ask(subject, cluster, clock, failing, _ALTERNATELY):
        counts[_DISCARDED] += _ask_last(subject, cluster, failing)


def _ask(
    subject: Subject,
    cluster: SmallCluster,
    clock: _ListingClock,
    failing: FailingReadings | None = None,
    pattern: Sequence[bool] = (False,),
) -> bool:
    """Compare an instance with new ones while it reads data.

    Returns:
        Whether it reads any.
    """
    run = _begun(subject, cluster, clock, failing)
    turns = zip(cycle(_READING_SECONDS), cycle(pattern), strict=False)
    for seconds, fails in islice(turns, _MOST_READINGS):
        if not run.read(seconds, fails=fails) or not data_of(run.executor):
            return False
        if run.compared >= _MOST_COMPARED:
            return True
    return True


def _ask_last(
    subject: Subject, cluster: SmallCluster, failing: FailingReadings
) -> bool:
    """Check that data are discarded when readings fail as when they do not return.

    Returns:
        Whether they are discarded, and make a difference.
    """
    hanging = _begun_with(subject, cluster, failing)
    if hanging is None:
        return False
    begin, before = hanging.clock.now(), hanging.differences()
    after = None if before is None else hanging.outlast()
    if before is None or not after or not after.keys() - before.keys():
        return False
    age = hanging.clock.now() - begin
    run = _begun_with(subject, cluster, failing)
    assert run is not None, "the same readings are made each time"
    failed = 0
    end = run.clock.now() + _MOST_PERIODS * age
    while run.clock.now() < end and failed < _MOST_FAILED and run.read(0, fails=True):
        failed += 1
    if run.clock.now() < end and failed == _MOST_FAILED:
        return False  # the period is too short
    run.bench.advance(max(0.0, end - run.clock.now()))
    actual = run.differences()
    for pod in run.pods:
        is_kept = actual is not None and pod.key not in actual
        if is_kept and pod.key in after and pod.key not in before:
            hook, problem = after[pod.key]
            text = (
                f"decides by the data of its last successful reading for ever if the "
                f"next ones fail. If they do not return instead, a timer discards the "
                f"data after {age:,.0f} s ({problem} as with the data): a failed "
                "reading must neither cancel this timer nor set it again, so do both "
                "only when data arrive"
            )
            fail(hook, text, pod, [info.node for info in run.bench.snapshot])
    return True


def _begun_with(
    subject: Subject, cluster: SmallCluster, failing: FailingReadings
) -> "_Run | None":
    """Return a plugin after some readings; None if there are fewer."""
    run = _begun(subject, cluster, _ListingClock(stands_still=True), failing)
    is_begun = all(run.read(0, fails=fails) for fails in _AT_LAST)
    return run if is_begun else None


def _begun(
    subject: Subject,
    cluster: SmallCluster,
    clock: _ListingClock,
    failing: FailingReadings | None,
) -> "_Run":
    executor = HeldExecutor(is_holding=True)
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, clock=clock, executor=executor)
    bench = Bench(subject, cluster, services=services)
    return _Run(bench, clock, executor, cluster.pending, failing)


def _are_alike(actual: Sequence[object], usual: Sequence[object]) -> bool:
    """Return whether readings have the usual results, so that they have not failed."""
    with suppress(Exception):  # such as arrays, which do not compare
        return bool(actual == usual)
    pairs = zip(actual, usual, strict=False)
    return all(isinstance(_data(each), type(_data(other))) for each, other in pairs)


def _data(outcome: object) -> object:
    """Return what a task has returned; None if it has raised an exception."""
    return outcome[0] if isinstance(outcome, tuple) else None


@attrs.define(eq=False)
class _Run:
    """A plugin that reads data again and again.

    Attributes:
        bench: The plugin and its cluster.
        clock: Its clock.
        executor: Holds its readings.
        pods: The pods that wait.
        failing: Lets readings fail, if it can.
        earlier: The timers that were set before the last data arrived.
        compared: How often the instance was compared with a new one.
    """

    bench: Bench
    clock: _ListingClock
    executor: HeldExecutor
    pods: Sequence[Pod]
    failing: FailingReadings | None = None
    earlier: Sequence[Timer] = ()
    compared: int = 0

    def read(self, seconds: float, *, fails: bool) -> bool:
        """Let a reading return or fail; return whether one has done so.

        Args:
            seconds: How long it takes.
            fails: Whether it fails. Then its outcome is not kept, because no new
                instance gets the same data.
        """
        if not self.wait_for_a_task():
            return False
        self.pass_time(seconds)
        outcomes = len(self.executor.outcomes)
        if self.failing is None or not fails:
            block: AbstractContextManager[None] = nullcontext()
        else:
            block = self.failing.failing(self.bench)
        with self.clock.reading(), block:
            self.executor.run_tasks()
        has_failed = True
        if fails:
            failed = self.executor.outcomes[outcomes:]
            del self.executor.outcomes[outcomes:]
            usual = self.executor.outcomes[-len(failed) :]
            has_failed = not _are_alike(failed, usual)
        else:
            self.earlier = self.clock.live_timers()
        self.executor.deliver_results()
        return has_failed

    def outlast(self) -> dict[str, Difference] | None:
        """Hold all readings, and return the differences that the next timers make."""
        for _ in range(_MOST_TIMERS):
            due = self.clock.next_due()
            if due is None:
                return None
            self.bench.advance(max(0.0, due - self.clock.now()))
            differing = self.differences()
            if differing:
                return differing
        return None

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
        before = self.differences() if is_earlier else None
        self.bench.advance(max(0.0, time - self.clock.now()))
        after = self.differences() if before is not None else None
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

    def differences(self) -> dict[str, Difference] | None:
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
