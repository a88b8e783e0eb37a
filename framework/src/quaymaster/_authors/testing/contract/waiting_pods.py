"""A check: no hook fails while pods wait on Permit."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import copies_of, place
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.long_waits import ask_long
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.waiting_beside import ask_beside_changes
from quaymaster._authors.testing.contract.waiting_room import (
    OTHER_WAIT_SECONDS,
    WaitingRoom,
)
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._base.errors import UnknownObjectionError

__all__ = ["WAITING_PODS"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""

_COPIES: Final = 5
"""The pods that wait for two plugins; so many make a small group complete."""

_REMEDY: Final = (
    "a pod may wait for other plugins only, so call allow for a waiting pod only if "
    "its pending_plugins contain handle.plugin_name"
)


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    for pod in cluster.pending:
        _ask_beside_other(subject, cluster, pod)
        bench = Bench(subject, cluster)
        # Not a copy: objects may name the pod that they release.
        ask_long(subject, cluster, pod, _place(bench, pod))
        for rival in cluster.pending:
            for copy in copies_of(rival, 1):
                bench.add(copy)
                _walk_meanwhile(bench, copy, pod)
        if len(bench.room.pods):
            _change_meanwhile(bench, pod, cluster, other)
    ask_beside_changes(subject, cluster)


def _ask_beside_other(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    """Place pods like a pod while another Permit plugin lets every pod wait, too."""
    services = subject.make_services(subject.empty_cluster)
    room = WaitingRoom(services.clock, subject.name, has_other=True)
    bench = Bench(subject, cluster, services=services, room=room)
    copies = copies_of(pod, _COPIES)
    try:
        for copy in copies:
            bench.add(copy)
        for copy in copies:
            place(bench, copy)
        room.end_other_wait()
        bench.advance(OTHER_WAIT_SECONDS)
    except HookFailedError as failure:
        text = f"{failure.problem}, while pods wait on Permit for another plugin, too"
        if isinstance(failure.__cause__, UnknownObjectionError):
            text = f"{text}: {_REMEDY}"
        fail(failure.hook, text, *copies)


def _place(bench: Bench, pod: Pod) -> object:
    try:
        return place(bench, pod)
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
    promise="no hook fails while other pods wait on Permit, or wait for two plugins",
    ask=_ask,
    hooks=frozenset({"permit"}),
    needs_other=True,
)
