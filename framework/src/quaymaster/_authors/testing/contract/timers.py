"""A check: time comes from the handle's clock, and no threads are started."""

from typing import Final

import attrs

from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.real_time import RealTimeWatch
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk

__all__ = ["TIMERS"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    watch = RealTimeWatch(subject.plugin.__module__.partition(".")[0])
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, executor=watch)
    try:
        with watch.watching():
            bench = Bench(subject, cluster, services=services)
            for pod in cluster.pending:
                walk(bench, pod)
            bench.advance(_SECONDS)
            bench.become(cluster, other)
            bench.close()
    except HookFailedError:
        if not watch.uses:
            raise
    for use in watch.uses:
        fail(use.function, use.problem)


TIMERS: Final = Check(
    name="timers",
    promise="hooks read the handle's clock, set its timers, and start no threads",
    ask=_ask,
    needs_other=True,
)
