"""The pods that are evicted from their nodes."""

from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster

__all__ = ["Disruption", "Disruptions"]

_TYPE: Final = "DisruptionTarget"
_BY_THE_SCHEDULER: Final = "PreemptionByScheduler"
_BY_THE_API: Final = "EvictionByEvictionAPI"


@attrs.frozen(kw_only=True)
class Disruption:
    """An evicted pod.

    Attributes:
        pod: Its key.
        at: When, in seconds since the beginning.
        is_by_api: Whether the eviction API was called, as drains do; otherwise a taint
            or the end of its node has evicted it.
    """

    pod: str
    at: float
    is_by_api: bool


class Disruptions:
    """Follows evicted pods: the API server marks each with a condition.

    Preempted pods do not count, nor do the pods of DaemonSets.

    Args:
        cluster: The cluster, before anything is evicted.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._clock = cluster.clock
        self._started = cluster.clock.now()
        self._by_uid: dict[str, Disruption] = {}
        self._watch = cluster.watch(Pod, cluster.resource_version, self._read)

    def so_far(self) -> Sequence[Disruption]:
        """Return the pods that were evicted so far, in order."""
        self._read()
        return [*self._by_uid.values()]

    def close(self) -> None:
        """End the watch."""
        self._watch.stop()

    def _read(self) -> None:
        at = round(self._clock.now() - self._started, 6)
        for event in self._watch.take():
            pod, reason = event.object, _reason_of(event.object)
            if reason and pod.uid not in self._by_uid:
                self._by_uid[pod.uid] = Disruption(
                    pod=pod.key, at=at, is_by_api=reason == _BY_THE_API
                )


def _reason_of(pod: Pod) -> str:
    """Return why a pod is being evicted, or an empty text."""
    controller = pod.metadata.controller
    if controller is not None and controller.kind == "DaemonSet":
        return ""
    for condition in pod.status.conditions:
        if condition.type == _TYPE and condition.status == "True":
            reason = condition.reason or ""
            return "" if reason == _BY_THE_SCHEDULER else reason
    return ""
