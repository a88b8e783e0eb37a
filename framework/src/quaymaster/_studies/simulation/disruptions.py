"""Counts the pods that are evicted from their nodes."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster

__all__ = ["Disruptions"]

_TYPE: Final = "DisruptionTarget"
_BY_THE_SCHEDULER: Final = "PreemptionByScheduler"


class Disruptions:
    """Counts evicted pods: the API server marks each with a condition.

    Preempted pods do not count, nor do the pods of DaemonSets.

    Args:
        cluster: The cluster, before anything is evicted.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._uids: set[str] = set()
        self._watch = cluster.watch(Pod, cluster.resource_version, self._read)

    @property
    def count(self) -> int:
        """How many pods were evicted so far."""
        self._read()
        return len(self._uids)

    def close(self) -> None:
        """End the watch."""
        self._watch.stop()

    def _read(self) -> None:
        for event in self._watch.take():
            if _is_evicted(event.object):
                self._uids.add(event.object.uid)


def _is_evicted(pod: Pod) -> bool:
    controller = pod.metadata.controller
    if controller is not None and controller.kind == "DaemonSet":
        return False
    return any(
        condition.type == _TYPE
        and condition.status == "True"
        and condition.reason != _BY_THE_SCHEDULER
        for condition in pod.status.conditions
    )
