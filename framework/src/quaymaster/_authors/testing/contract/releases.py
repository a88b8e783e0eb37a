"""A check: Permit counts the pods that it has released, and forgets those that left."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.attempts import copies_of, place
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.company import ask_company
from quaymaster._authors.testing.contract.departures import (
    ask_departures,
    has_no_waits,
)
from quaymaster._authors.testing.contract.repeated_waits import ask_repeated
from quaymaster._authors.testing.contract.reserving import binding_difference
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.binding.waiting_pods import MAX_PERMIT_TIMEOUT_SECONDS

__all__ = ["RELEASES"]

_MOST_PODS: Final = 1
_COPIES: Final = 4
"""The pods that are tried; some pass, and the others wait."""

_End: TypeAlias = Callable[[Bench, Pod], None]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending[:_MOST_PODS]:
        try:
            for what, end in _ENDS:
                _ask_of(subject, cluster, pod, what, end)
        except HookFailedError as failure:
            fail(failure.hook, failure.problem, pod, cluster.nodes, cluster.pods)
    try:
        ask_departures(subject, cluster)
        ask_company(subject, cluster)
        ask_repeated(subject, cluster)
    except HookFailedError as failure:
        fail(failure.hook, failure.problem, cluster.pending, cluster.objects)


def _ask_of(
    subject: Subject, cluster: SmallCluster, pod: Pod, what: str, end: _End
) -> None:
    *copies, following = copies_of(pod, _COPIES + 1)
    for ask in (_compare_released, _compare_after_departure):
        bench = Bench(subject, cluster)
        for copy in copies:
            bench.add(copy)
        for copy in copies:
            place(bench, copy)
        if not len(bench.room.pods):
            return
        ask(bench, following, what, end)


def _compare_released(bench: Bench, following: Pod, what: str, end: _End) -> None:
    """Check that no more pods are released than pass Permit one by one."""
    waiting = [entry.pod for entry in bench.room.pods]
    _end_others(bench, end)
    released = [pod for pod in waiting if _is_bound(bench, pod)]
    if len(released) < 2:
        return
    for pod in released:
        bench.remove(pod)
    bench.handle.retire()  # else its callbacks would follow the next pods, too
    renewed = bench.renewed()
    for number, pod in enumerate(released):
        unplaced = replace(pod, node_name="")
        renewed.add(unplaced)
        answer = place(renewed, unplaced)
        if answer is None and _is_bound(renewed, pod):
            continue
        if number:
            text = (
                f"releases {len(released)} waiting pods once the pods before them "
                f"{what}, but a new instance lets only {number} of them pass, and then "
                f"says {shown(answer)}: book each pod before you allow the next one"
            )
            fail("permit", text, released, following)
        return


def _compare_after_departure(
    bench: Bench, following: Pod, what: str, end: _End
) -> None:
    """Check that a pod which was deleted while it waited holds nothing later."""
    departed = next(iter(bench.room.pods)).pod
    bench.remove(replace(departed, node_name=""))
    bench.room.pods.reject_deleted(departed.uid)
    bench.room.settle()
    _end_others(bench, end)
    bench.add(following)
    # It may remember for a while what it has let pass, so that it limits the rate.
    bench.advance(MAX_PERMIT_TIMEOUT_SECONDS)
    changed = binding_difference(bench, bench.renewed(), following)
    if changed is not None:
        text = (
            f"{changed} as from a new instance, once a pod like it was deleted while "
            f"it waited, and then the pods before it {what}: unreserve is called for "
            "pods that leave, and handle.waiting_pods() no longer has them"
        )
        fail(changed.hook, text, following)


def _end_others(bench: Bench, end: _End) -> None:
    """Let all pods leave that run now."""
    for pod in _running(bench):
        end(bench, pod)
        bench.room.settle()


def _running(bench: Bench) -> Sequence[Pod]:
    pods = bench.services.informers.list(Pod)
    return [pod for pod in pods if pod.node_name and not pod.is_finished]


def _is_bound(bench: Bench, pod: Pod) -> bool:
    stored = bench.services.informers.get(Pod, pod.key)
    return stored is not None and bool(stored.node_name)


def _start(bench: Bench, pod: Pod) -> None:
    bench.add(replace(pod, status=replace(pod.status, phase="Running")))


def _delete(bench: Bench, pod: Pod) -> None:
    bench.remove(pod)


_ENDS: Final[Sequence[tuple[str, _End]]] = (
    ("have started", _start),
    ("are deleted", _delete),
)

RELEASES: Final = Check(
    name="releases",
    promise="waiting pods are released when permit lets them pass, and no others",
    ask=_ask,
    hooks=frozenset({"permit"}),
    needs_more=has_no_waits,
)
