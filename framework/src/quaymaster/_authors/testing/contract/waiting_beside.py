"""Changes other pods while a pod waits on Permit for another plugin only."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import place
from quaymaster._authors.testing.contract.bench import (
    Bench,
    HookFailedError,
    is_caused_by,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.waiting_room import WaitingRoom
from quaymaster._base.errors import UnknownObjectionError

__all__ = ["ask_beside_changes"]

_REMEDY: Final = (
    "it may wait for other plugins only, so call allow for a waiting pod only if its "
    "pending_plugins contain handle.plugin_name"
)


def ask_beside_changes(subject: Subject, cluster: SmallCluster) -> None:
    """Let other pods get nodes, change and leave, while a pod waits for one plugin.

    Raises:
        Finding: A callback allows or rejects a pod that does not wait for its plugin.
    """
    for pod in cluster.pending:
        bench = _prepared(subject, cluster, pod)
        for other in (*cluster.pods, *cluster.pending):
            if other.uid != pod.uid:
                _ask_of(bench, pod, other)


def _prepared(subject: Subject, cluster: SmallCluster, pod: Pod) -> Bench:
    services = subject.make_services(subject.empty_cluster)
    room = WaitingRoom(services.clock, subject.name, has_other=True)
    bench = Bench(subject, cluster, services=services, room=room)
    place(bench, pod)
    return bench


def _ask_of(bench: Bench, pod: Pod, other: Pod) -> None:
    try:
        for changed in _versions(bench, other):
            entry = bench.room.pods.get(pod.uid)
            if entry is None or bench.subject.name in entry.pending_plugins:
                return
            if changed is None:
                bench.remove(bench.stored(other) or other)
            else:
                bench.add(changed)
            bench.room.settle()
    except HookFailedError as failure:
        if not is_caused_by(failure, UnknownObjectionError):
            raise
        text = (
            f"{failure.problem} once pod '{other.key}' has changed, while pod "
            f"'{pod.key}' waits on Permit for another plugin: {_REMEDY}"
        )
        fail(failure.hook, text, pod, other)


def _versions(bench: Bench, other: Pod) -> Iterator[Pod | None]:
    """Yield a pod as it gets a node, gets other labels, and is deleted."""
    names = [info.name for info in bench.snapshot]
    bound = replace(other, node_name=other.node_name or names[0]) if names else other
    yield bound
    labels = {**other.labels, "quaymaster.test/changed": "yes"}
    yield replace(bound, metadata=replace(bound.metadata, labels=labels))
    yield None
