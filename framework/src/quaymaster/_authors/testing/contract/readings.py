"""Checks that a plugin which reads something now and then goes on after a failure."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import attrs

from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.bench_cluster import PAUSES
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.outages import MOST_PER_MINUTE, minutes
from quaymaster._authors.testing.contract.real_time import RealTimeWatch
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault

__all__ = [
    "ask_readings",
    "data_of",
    "has_constant_readings",
    "is_repeated",
    "started",
]

_MOST_TIMERS: Final = 100
"""Chosen, not measured: the timers that may run before the next reading."""

_FAILURES: Final = 2
_REPETITIONS: Final = 4
"""So often a task is repeated on an unchanged cluster if it is periodic."""


def ask_readings(subject: Subject, base: type | None, cluster: SmallCluster) -> None:
    """Let periodic background tasks fail, and expect that they are repeated.

    Args:
        subject: The plugin.
        base: The class from which a test has derived the plugin, so that it reads no
            server, or None.
        cluster: The cluster.
    """
    bench, executor = started(subject, cluster)
    # Others write something until it is as it should be, and then have no more tasks.
    if not all(is_repeated(bench, executor) for _ in range(_REPETITIONS)):
        return
    _fail_calls(bench, executor)
    if base is not None:
        _fail_connections(subject, base, cluster)


def has_constant_readings(subject: Subject, cluster: SmallCluster) -> bool:
    """Return whether periodic background tasks return the same data each time.

    Tasks that return nothing, or only whether they have succeeded, return no data.
    Those that read the cluster return other data when the cluster changes.

    Args:
        subject: The plugin.
        cluster: The cluster.
    """
    bench, executor = started(subject, cluster)
    if not executor.tasks:
        return False
    if not all(is_repeated(bench, executor) for _ in range(_REPETITIONS)):
        return False
    data = data_of(executor)
    if bench.cluster.is_used or not data:
        return False
    with suppress(Exception):  # such as arrays, which do not compare
        return all(each == data[0] for each in data)
    return False


def data_of(executor: HeldExecutor) -> Sequence[object]:
    """Return the data that tasks have returned; empty if it is only their success."""
    data = [each[0] for each in executor.outcomes if isinstance(each, tuple)]
    has_data = any(each is not None and not isinstance(each, bool) for each in data)
    return data if has_data else ()


def started(
    subject: Subject, cluster: SmallCluster, *, is_holding: bool = False
) -> tuple[Bench, HeldExecutor]:
    """Return a bench, and the executor of its background tasks."""
    executor = HeldExecutor(is_holding=is_holding)
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, executor=executor)
    return Bench(subject, cluster, services=services), executor


def is_repeated(bench: Bench, executor: HeldExecutor) -> bool:
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


def _fail_calls(bench: Bench, executor: HeldExecutor) -> None:
    """Let the calls of the cluster fail in some tasks."""
    for rates in (*[{Fault.ERROR: 1.0}] * _FAILURES, {}):
        bench.cluster.set_rates(rates)
        if not is_repeated(bench, executor):
            _fail_not_repeated("a call of handle.cluster")


def _fail_connections(subject: Subject, base: type, cluster: SmallCluster) -> None:
    """Let the connections of the class of the package fail."""
    goes_on, is_hot = True, False
    package = attrs.evolve(subject, plugin=base)
    # Without a server, it may fail in any way: other checks report that.
    with RealTimeWatch(base).watching(is_offline=True), suppress(Exception):
        # It holds tasks: a task that is repeated at once would have no end.
        bench, executor = started(package, cluster, is_holding=True)
        if executor.has_tasks:
            is_hot = _is_hot(bench, executor)
            goes_on = is_hot or is_repeated(bench, executor)
        with suppress(HookFailedError):
            bench.close()
    if not goes_on:
        _fail_not_repeated("its connection to a server")
    if is_hot and not _is_hot(*started(subject, cluster, is_holding=True)):
        text = (
            f"repeats its background task more than {MOST_PER_MINUTE} times in a "
            f"minute while its connection to a server fails: {PAUSES}"
        )
        fail("", text)


def _is_hot(bench: Bench, executor: HeldExecutor) -> bool:
    """Return whether tasks are repeated too often in some minutes."""
    for _ in minutes(
        bench, executor, lambda: len(executor.outcomes) <= MOST_PER_MINUTE
    ):
        if len(executor.outcomes) > MOST_PER_MINUTE:
            return True
        executor.outcomes.clear()
    return False


def _fail_not_repeated(what: str) -> None:
    text = (
        "the background task that a timer repeats is not repeated once "
        f"{what} has failed: set the next timer before the task, or after a failure, "
        "too (an exception of a task is logged, and its done is not called)"
    )
    fail("", text)
