"""A check: a gate that opens with the time wakes the pods that it holds back."""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.time_passing import time_steps
from quaymaster._core.contract.declarations import opens_gates_itself

__all__ = ["TIMED_GATES"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        bench = Bench(subject, cluster)
        # The pods of a cluster have the times of their creation.
        now = bench.services.clock.now()
        metadata = replace(pod.metadata, creation_timestamp=now)
        pod = replace(pod, metadata=metadata)  # noqa: PLW2901 - it is that pod
        bench.add(pod)
        if bench.ask("pre_enqueue", pod) is not None:
            _ask_later(bench, pod)


def _ask_later(bench: Bench, pod: Pod) -> None:
    """Let time pass until the gate is open."""
    wakes, passed = bench.subject.wakes, 0
    wakes.clear()
    for seconds in time_steps(bench):
        before = bench.ask("pre_enqueue", pod)
        bench.advance(seconds)
        passed += seconds
        if wakes:
            return
        if bench.ask("pre_enqueue", pod) is None:
            text = (
                f"{shown(before)} for pod '{pod.key}', and success {passed:,} s later, "
                "with an unchanged cluster; yet its class declares opens_gates_itself, "
                "so nothing asks again: set a timer that calls Handle.changed or "
                "Handle.activate"
            )
            fail("pre_enqueue", text, pod)


TIMED_GATES: Final = Check(
    name="timed gates",
    promise="with opens_gates_itself, a gate that opens with the time wakes its pods",
    ask=_ask,
    hooks=frozenset({"pre_enqueue"}),
    only_for=opens_gates_itself,
)
