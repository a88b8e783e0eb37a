"""Asks for the sort keys of pods again, while they wait."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import object_steps
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.reported import apply
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.queueing import QueuedPodInfo

__all__ = ["ask_beside_objects", "ask_while_waiting"]

_SECONDS: Final = (61, 3607)
"""Enough for timers that run each minute or each hour."""


class _Keys:
    """The sort keys of pods that wait."""

    def __init__(self, bench: Bench, queued: Sequence[QueuedPodInfo]) -> None:
        self._bench = bench
        self._queued = queued
        bench.subject.reorders.clear()
        self._keys = [*map(self.ask, queued)]

    def ask(self, info: QueuedPodInfo) -> Any:  # noqa: ANN401 - any comparable object
        """Return the key of a pod now."""
        return self._bench.ask("queue_sort", info)

    def compare(self, when: str, *shown: Iterable[ApiObject]) -> None:
        """Check that the plugin has reported each key that differs from before."""
        reported = self._bench.subject.reorders
        for at, info in enumerate(self._queued):
            key, again = self._keys[at], self.ask(info)
            if info.pod.key not in reported and (again < key or key < again):
                text = (
                    f"{key!r}, then {again!r} {when}, while the pod waits, and no "
                    "handle.changed(pods=...) reports it"
                )
                fail("queue_sort", text, info.pod, *shown)
            self._keys[at] = again
        reported.clear()


def ask_while_waiting(
    bench: Bench, cluster: SmallCluster, queued: Sequence[QueuedPodInfo]
) -> None:
    """Compare the sort keys of pods before and after changes of the cluster.

    The queue asks for a key when a pod enters it, so keys must not follow the time or
    other pods, on nodes or waiting, unless the plugin reports the change by
    `Handle.changed`. For other objects, see `ask_beside_objects`.

    Args:
        bench: The plugin and its cluster.
        cluster: The cluster of the bench.
        queued: The pods that wait.
    """
    keys = _Keys(bench, queued)
    siblings = [
        _sibling(info.pod, number, cluster)
        for number, info in enumerate(queued)
        if cluster.nodes
    ]

    def compare(when: str) -> None:
        keys.compare(when, cluster.nodes, cluster.pods)

    arrivals = [replace(sibling, node_name="") for sibling in siblings]
    for arrival in arrivals:
        bench.add(arrival)
    compare("once pods like it wait, too")
    for sibling in siblings:
        bench.add(sibling)
    compare("once pods like it run on nodes")
    for pod in (*siblings, *cluster.pods):
        bench.remove(pod)
    compare("once pods have left their nodes")
    for seconds in _SECONDS:
        bench.advance(seconds)
        compare(f"{seconds:,} s later")


def ask_beside_objects(
    bench: Bench,
    cluster: SmallCluster,
    other: SmallCluster,
    queued: Sequence[QueuedPodInfo],
) -> None:
    """Compare the sort keys of pods before and after changes of other objects.

    Those of a new instance are the same, too, if they were before the changes: after a
    restart, a plugin has only the objects that there are.

    Args:
        bench: The plugin and its cluster.
        cluster: The cluster of the bench.
        other: A cluster with other objects.
        queued: The pods that wait.
    """
    kinds = {type(obj) for obj in (*cluster.objects, *other.objects)}
    keys, is_renewable = _Keys(bench, queued), _differing(bench, queued) is None
    for step in object_steps(cluster, other, kinds):
        # New instances report the keys of the objects that they find.
        bench.subject.reorders.clear()
        apply(bench, step)
        changed = [obj for obj in (step.old, step.new) if obj is not None]
        keys.compare(f"after {step}", changed)
        differing = _differing(bench, queued) if is_renewable else None
        if differing is not None:
            text = (
                f"{keys.ask(differing)!r} after {step}, but a new instance with the "
                "same objects gives another key"
            )
            fail("queue_sort", text, differing.pod, changed)


def _differing(bench: Bench, queued: Sequence[QueuedPodInfo]) -> QueuedPodInfo | None:
    """Return the first pod for which a new instance has another key."""
    renewed = bench.renewed()
    for info in queued:
        # Any: every comparable object can be a key.
        key, theirs = (
            cast(Any, each.ask("queue_sort", info)) for each in (bench, renewed)
        )
        if key < theirs or theirs < key:
            return info
    return None


def _sibling(pod: Pod, number: int, cluster: SmallCluster) -> Pod:
    """Return a pod of the same workload that runs on a node."""
    name = f"{pod.name}-sibling-{number}"
    uid = make_uid(Pod, name, pod.namespace)
    return replace(
        pod,
        metadata=replace(pod.metadata, name=name, uid=uid),
        spec=replace(pod.spec, scheduling_gates=()),
        node_name=cluster.nodes[0].name,
    )
