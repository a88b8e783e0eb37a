"""A check: hooks change neither their arguments nor their earlier results."""

from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._base.errors import PluginError

__all__ = ["PURITY"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster, is_guarded=True)
    for pod in cluster.pending:
        try:
            walk(bench, pod)
        except HookFailedError as failure:
            if isinstance(failure.__cause__, PluginError):
                fail(failure.hook, failure.problem, pod, cluster.nodes, cluster.pods)
            raise


PURITY = Check(
    name="purity",
    promise="no hook changes the objects that it gets or reads, or earlier results",
    ask=_ask,
)
