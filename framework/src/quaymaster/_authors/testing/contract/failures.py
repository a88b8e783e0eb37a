"""A check: hooks do not raise, and return what their spec allows."""

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.harness import PluginHarness, PluginStatusError
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.hook_marks import hookimpl
from quaymaster._core.contract.status import Status

__all__ = ["FAILURES"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    try:
        bench = Bench(subject, cluster)
        if subject.has("events_to_register"):
            bench.ask("events_to_register")
        Bench(subject, cluster).close()
    except HookFailedError as failure:
        fail(failure.hook, failure.problem)
    for pod in cluster.pending:
        try:
            walk(bench, pod)
            if subject.has("post_filter"):
                _post_filter(subject, cluster, pod)
        except HookFailedError as failure:
            fail(failure.hook, failure.problem, pod, cluster.nodes, cluster.pods)


class NoRoom:
    """Rejects every node, so that PostFilter is called."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def filter(self) -> Status | None:
        return Status.unschedulable("no room")


def _post_filter(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    if not cluster.nodes:
        return
    harness = PluginHarness(
        subject.plugin,
        args=subject.args,
        kubernetes=subject.kubernetes,
        nodes=cluster.nodes,
        pods=cluster.pods,
        objects=subject.objects,
        beside=[NoRoom],
    )
    try:
        harness.post_filter(pod)
    except PluginStatusError:
        return
    except QuaymasterError as error:
        raise HookFailedError("post_filter", str(error)) from error
    except Exception as error:
        problem = f"raised {describe_exception(error)}"
        raise HookFailedError("post_filter", problem) from error


FAILURES = Check(
    name="failures",
    promise="no hook raises, and each returns what its spec allows",
    ask=_ask,
)
