"""Checks that a plugin which reads something now and then goes on after a failure."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

import attrs

from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.real_time import RealTimeWatch
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault
from quaymaster._core.binding.executor import InlineExecutor

__all__ = ["ask_readings", "has_constant_readings"]

T = TypeVar("T")

_MOST_TIMERS: Final = 100
"""Chosen, not measured: the timers that may run before the next reading."""

_FAILURES: Final = 2
_REPETITIONS: Final = 4
"""So often a task is repeated on an unchanged cluster if it is periodic."""


class _CountingExecutor(InlineExecutor):
    """An executor that counts its tasks.

    Attributes:
        tasks: Their number.
        outcomes: The outcomes of those that have ended, see `outcome_of`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tasks = 0
        self.outcomes: list[object] = []

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        self.tasks += 1

        def note(outcome: T) -> None:
            self.outcomes.append(outcome)
            done(outcome)

        super().submit(task, note, blocks=blocks)


def ask_readings(subject: Subject, base: type | None, cluster: SmallCluster) -> None:
    """Let periodic background tasks fail, and expect that they are repeated.

    Args:
        subject: The plugin.
        base: The class from which a test has derived the plugin, so that it reads no
            server, or None.
        cluster: The cluster.
    """
    bench, executor = _started(subject, cluster)
    # Others write something until it is as it should be, and then have no more tasks.
    if not all(_is_repeated(bench, executor) for _ in range(_REPETITIONS)):
        return
    _fail_calls(bench, executor)
    if base is not None:
        _fail_connections(attrs.evolve(subject, plugin=base), cluster)


def has_constant_readings(subject: Subject, cluster: SmallCluster) -> bool:
    """Return whether periodic background tasks return the same data each time.

    Tasks that return nothing, or only whether they have succeeded, return no data.
    Those that read the cluster return other data when the cluster changes.

    Args:
        subject: The plugin.
        cluster: The cluster.
    """
    bench, executor = _started(subject, cluster)
    if not executor.tasks:
        return False
    if not all(_is_repeated(bench, executor) for _ in range(_REPETITIONS)):
        return False
    data = [each[0] for each in executor.outcomes if isinstance(each, tuple)]
    if bench.cluster.is_used or all(map(_is_no_data, data)):
        return False
    with suppress(Exception):  # such as arrays, which do not compare
        return data == data[:1] * len(data)
    return False


def _is_no_data(value: object) -> bool:
    return value is None or isinstance(value, bool)


def _started(
    subject: Subject, cluster: SmallCluster
) -> tuple[Bench, _CountingExecutor]:
    executor = _CountingExecutor()
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, executor=executor)
    return Bench(subject, cluster, services=services), executor


def _is_repeated(bench: Bench, executor: _CountingExecutor) -> bool:
    """Run timers until one starts a task; return whether one does."""
    before, clock = executor.tasks, bench.services.clock
    for _ in range(_MOST_TIMERS):
        due = clock.next_due()
        if due is None:
            return False
        bench.advance(max(0.0, due - clock.now()))
        if executor.tasks > before:
            return True
    return False


def _fail_calls(bench: Bench, executor: _CountingExecutor) -> None:
    """Let the calls of the cluster fail in some tasks."""
    for rates in (*[{Fault.ERROR: 1.0}] * _FAILURES, {}):
        bench.cluster.set_rates(rates)
        if not _is_repeated(bench, executor):
            _fail_not_repeated("a call of handle.cluster")


def _fail_connections(subject: Subject, cluster: SmallCluster) -> None:
    """Let the connections of the class of the package fail."""
    is_repeated = True
    # Without a server, it may fail in any way: other checks report that.
    with RealTimeWatch(subject.plugin).watching(is_offline=True), suppress(Exception):
        bench, executor = _started(subject, cluster)
        if executor.tasks:
            is_repeated = _is_repeated(bench, executor)
        with suppress(HookFailedError):
            bench.close()
    if not is_repeated:
        _fail_not_repeated("its connection to a server")


def _fail_not_repeated(what: str) -> None:
    text = (
        "the background task that a timer repeats is not repeated once "
        f"{what} has failed: set the next timer before the task, or after a failure, "
        "too (an exception of a task is logged, and its done is not called)"
    )
    fail("", text)
