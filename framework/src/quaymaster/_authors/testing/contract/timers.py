"""A check: time comes from the handle's clock, and its callbacks do not fail."""

from contextlib import suppress
from typing import Final

import attrs

from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import (
    evicting_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.derived import base_of_package
from quaymaster._authors.testing.contract.failed_callbacks import collecting_failures
from quaymaster._authors.testing.contract.readings import ask_readings
from quaymaster._authors.testing.contract.real_time import RealTimeWatch
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.faults import Fault
from quaymaster._authors.testing.harness import PluginHarness

__all__ = ["TIMERS"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""
_FAULTS: Final = (Fault.ERROR, Fault.CONFLICT, Fault.LOST_ANSWER)


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    _ask_online(subject, cluster, other)
    base = base_of_package(subject.plugin)
    ask_readings(subject, base, cluster)
    if base is not None:
        _ask_offline(attrs.evolve(subject, plugin=base), cluster)


def _ask_online(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    watch = RealTimeWatch(subject.plugin)
    failures: list[tuple[str, str]] = []
    try:
        with watch.watching(), collecting_failures(failures):
            bench = Bench(subject, cluster)
            for pod in cluster.pending:
                walk(bench, pod)
            bench.advance(_SECONDS)
            if bench.cluster.is_used:
                _fail_calls(bench, cluster)
            bench.become(cluster, other)
            bench.close()
            if subject.has("post_filter") and cluster.nodes:
                _evict(subject, cluster)
    except HookFailedError:
        if not watch.uses:
            raise
    for use in watch.uses:
        fail(use.function, use.problem)
    for function, problem in failures:
        fail(function, problem, cluster.nodes, cluster.objects)


def _fail_calls(bench: Bench, cluster: SmallCluster) -> None:
    """Repeat all hooks while calls of the cluster fail.

    Hooks that run on workers may report such a failure; timers and tasks cannot.
    """
    for fault in _FAULTS:
        bench.cluster.set_rates({fault: 1.0})
        for pod in cluster.pending:
            with suppress(HookFailedError):
                walk(bench, pod)
        bench.advance(_SECONDS)
        bench.cluster.set_rates({})
        with suppress(HookFailedError):
            walk(bench, cluster.pending[0])  # it finds and leaves objects again


def _ask_offline(subject: Subject, cluster: SmallCluster) -> None:
    """Look for connections of a class whose calls of servers a test has overridden."""
    watch = RealTimeWatch(subject.plugin)
    # Without a server, it may fail in any way.
    with watch.watching(is_offline=True), suppress(Exception):
        bench = Bench(subject, cluster)
        for pod in cluster.pending[:1]:
            walk(bench, pod)
        bench.advance(_SECONDS)
        bench.close()
    for use in watch.uses:
        fail(use.function, use.problem)


def _evict(subject: Subject, cluster: SmallCluster) -> None:
    """Call PostFilter for a pod."""
    pod = preempting(cluster.pending[0])
    for harness in evicting_harnesses(subject, cluster, PluginHarness):
        # Other checks report failures.
        with harness, suppress(Exception):
            harness.start()
            harness.post_filter(pod)


TIMERS: Final = Check(
    name="timers",
    promise="hooks use the handle on its thread, its clock, and no threads, nor block",
    ask=_ask,
    needs_other=True,
)
