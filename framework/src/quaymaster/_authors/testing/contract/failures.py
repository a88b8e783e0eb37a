"""A check: hooks do not raise, and return what their spec allows."""

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import (
    post_filter_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.contract_error import ContractError
from quaymaster._authors.testing.harness import PluginHarness, PluginStatusError
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.raised import describe_exception

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


def _post_filter(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    if not cluster.nodes:
        return
    for harness in post_filter_harnesses(subject, cluster):
        with harness:
            _ask_post_filter(harness, pod)


def _ask_post_filter(harness: PluginHarness, pod: Pod) -> None:
    try:
        harness.start()
        harness.post_filter(preempting(pod))
    except (PluginStatusError, ContractError):
        return  # an undeclared write is a matter of another check
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
