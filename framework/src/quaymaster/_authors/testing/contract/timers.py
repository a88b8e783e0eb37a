"""A check: time comes from the handle's clock, and its callbacks do not fail."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import attrs

from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.real_time import RealTimeWatch
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._base.raised import describe_exception
from quaymaster._core.engine.guarded import run_guarded

__all__ = ["TIMERS"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    watch = RealTimeWatch(_packages(subject.plugin))
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, executor=watch)
    failures: list[tuple[str, str]] = []
    try:
        with watch.watching(), _collecting(failures):
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
    for function, problem in failures:
        fail(function, problem, cluster.nodes, cluster.objects)


def _packages(plugin: type) -> frozenset[str]:
    """Return the packages of a plugin: tests derive classes that read no server."""
    names = {base.__module__.partition(".")[0] for base in plugin.__mro__}
    return frozenset(names - {"builtins", "abc", "typing", "quaymaster"})


@contextmanager
def _collecting(failures: list[tuple[str, str]]) -> Iterator[None]:
    """Collect the callbacks of timers and background tasks that fail in the block.

    The framework logs these failures, which have no other effect.

    Args:
        failures: Gets the name of each function, and its problem.
    """

    class Collector(logging.Handler):
        """Keeps the name of a function, and the exception that it has raised."""

        def emit(self, record: logging.LogRecord) -> None:
            """Keep a failure."""
            error = record.exc_info[1] if record.exc_info else None
            if error is not None and isinstance(record.args, tuple):
                name = str(record.args[-1]).rpartition(".")[2]
                failures.append((name, f"raised {describe_exception(error)}"))

    handler = Collector()
    logger = logging.getLogger(run_guarded.__module__)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


TIMERS: Final = Check(
    name="timers",
    promise="hooks use the handle's clock and no threads, and its timers do not fail",
    ask=_ask,
    needs_other=True,
)
