"""A check: hooks change neither their arguments nor their earlier results."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.kept_arrays import KeptArrays
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._base.errors import PluginError

__all__ = ["PURITY"]

_SECONDS: Final = 61
"""Enough for timers that run each minute, and bring other data."""


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    kept = KeptArrays()
    bench = Bench(subject, cluster, is_guarded=True, watches=[kept])
    for pod in cluster.pending:
        with _reporting(cluster, pod):
            walk(bench, pod)
    with _reporting(other):
        bench.become(cluster, other)
        bench.advance(_SECONDS)
    _expect_unchanged(kept, "once the cluster has changed", other)
    # One pod is enough: all results before it are compared.
    for pod in other.pending[:1]:
        with _reporting(other, pod):
            walk(bench, pod)
    _expect_unchanged(kept, "after later calls of hooks", other)


@contextmanager
def _reporting(cluster: SmallCluster, *pods: Pod) -> Iterator[None]:
    """Report what the guard of the bench finds in the block.

    Args:
        cluster: The cluster.
        *pods: The pod that is tried.

    Raises:
        Finding: A hook or a callback has changed something.
    """
    try:
        yield
    except HookFailedError as failure:
        if isinstance(failure.__cause__, PluginError):
            fail(failure.hook, failure.problem, pods, cluster.nodes, cluster.pods)
        raise


def _expect_unchanged(kept: KeptArrays, since: str, cluster: SmallCluster) -> None:
    change = kept.first_change(since)
    if change is not None:
        fail(change.hook, change.problem, cluster.nodes, cluster.pods)


PURITY = Check(
    name="purity",
    promise="no hook changes the objects that it gets or reads, or earlier results",
    ask=_ask,
    needs_other=True,
)
