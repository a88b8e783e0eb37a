"""Asks for the sort keys of pods again, while they wait."""

from collections.abc import Sequence
from typing import Any, Final, cast

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.queueing import QueuedPodInfo

__all__ = ["ask_while_waiting"]

_SECONDS: Final = (61, 3607)
"""Enough for timers that run each minute or each hour."""


def ask_while_waiting(
    bench: Bench, cluster: SmallCluster, queued: Sequence[QueuedPodInfo]
) -> None:
    """Compare the sort keys of pods before and after changes of the cluster.

    The queue asks for a key when a pod enters it, so keys must not follow the time or
    other pods, on nodes or waiting, unless the plugin reports the change by
    `Handle.changed`. They may follow other objects.

    Args:
        bench: The plugin and its cluster.
        cluster: The cluster of the bench.
        queued: The pods that wait.
    """
    bench.subject.reorders.clear()
    # Any: every comparable object can be a key.
    keys = [cast(Any, bench.ask("queue_sort", info)) for info in queued]
    siblings = [
        _sibling(info.pod, number, cluster)
        for number, info in enumerate(queued)
        if cluster.nodes
    ]

    def compare(when: str) -> None:
        for at, (info, key) in enumerate(zip(queued, keys, strict=True)):
            again = cast(Any, bench.ask("queue_sort", info))
            is_reported = info.pod.key in bench.subject.reorders
            if not is_reported and (again < key or key < again):
                text = (
                    f"{key!r}, then {again!r} {when}, while the pod waits, and no "
                    "handle.changed(pods=...) reports it"
                )
                fail("queue_sort", text, info.pod, cluster.nodes, cluster.pods)
            keys[at] = again
        bench.subject.reorders.clear()

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
