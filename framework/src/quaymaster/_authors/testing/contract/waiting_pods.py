"""A check: no hook fails while pods wait on Permit."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import copies_of, place
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk

__all__ = ["WAITING_PODS"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    for pod in cluster.pending:
        bench = Bench(subject, cluster)
        # Not a copy: objects may name the pod that they release.
        _place(bench, pod)
        for rival in cluster.pending:
            for copy in copies_of(rival, 1):
                bench.add(copy)
                _walk_meanwhile(bench, copy, pod)
        if len(bench.room.pods):
            _change_meanwhile(bench, pod, cluster, other)


def _place(bench: Bench, pod: Pod) -> None:
    try:
        place(bench, pod)
    except HookFailedError as failure:
        fail(failure.hook, failure.problem, pod)


def _walk_meanwhile(bench: Bench, rival: Pod, waiting: Pod) -> None:
    """Call every hook for another pod, which is bound although Permit may let it wait.

    Another plugin, or a change of an object, may allow it before the waiting pod.
    """
    try:
        walk(bench, rival)
    except HookFailedError as failure:
        if not len(bench.room.pods):
            return  # another check reports failures
        text = f"{failure.problem}, while pod {waiting.key} waits on Permit"
        fail(failure.hook, text, rival, waiting)
    bench.room.drop()


def _change_meanwhile(
    bench: Bench, pod: Pod, cluster: SmallCluster, other: SmallCluster
) -> None:
    """Let objects change and time pass, which callbacks and timers may follow."""
    try:
        for obj in other.objects:
            bench.add(obj)
        for obj in cluster.objects:
            bench.remove(obj)
        bench.advance(_SECONDS)
    except HookFailedError as failure:
        text = f"{failure.problem}, while pod {pod.key} waits on Permit"
        fail(failure.hook, text, pod, other.objects, cluster.objects)


WAITING_PODS: Final = Check(
    name="waiting pods",
    promise="no hook fails while other pods wait on Permit",
    ask=_ask,
    hooks=frozenset({"permit"}),
    needs_other=True,
)
