"""Captures the cluster at an attempt of a pod."""

from collections.abc import Sequence

from quaymaster._api.objects import (
    KINDS,
    ApiObject,
    Binding,
    CronJob,
    Event,
    Lease,
    Pod,
)
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.simulation.attempts import AttemptLog
from quaymaster._studies.simulation.explained import WhichAttempt
from quaymaster._studies.simulation.names import RequestedPod

__all__ = ["CapturingLog"]

_LEFT_OUT = (CronJob, Event, Lease, Binding)


class CapturingLog(AttemptLog):
    """Follows the attempts of a pod, and keeps the cluster at one of them.

    Args:
        requested: Decides which pods may be the requested one.
        which: The first attempt, the last one, or the one of a number from 1.
        cluster: The cluster.
        kinds: The kinds of plugins and packages, in addition to those of Kubernetes.
    """

    def __init__(
        self,
        requested: RequestedPod,
        which: WhichAttempt | int,
        cluster: InMemoryCluster,
        kinds: Sequence[type[ApiObject]],
    ) -> None:
        super().__init__(requested, which)
        self._takes = requested.takes
        self._which_one = which
        self._cluster = cluster
        self._kinds = [
            kind for kind in (*KINDS.values(), *kinds) if kind not in _LEFT_OUT
        ]
        self._captured: dict[str, list[ApiObject]] = {}

    def begin(self, pod: Pod, framework: Framework, now: float) -> None:
        """Begin an attempt of a pod."""
        super().begin(pod, framework, now)
        if not self._takes(pod) or self._is_over(pod.key):
            return
        self._captured[pod.key] = [
            obj for kind in self._kinds for obj in self._cluster.list(kind).items
        ]

    def _is_over(self, key: str) -> bool:
        """Whether the requested attempt was captured before."""
        if self._which_one is WhichAttempt.LAST or key not in self._captured:
            return False
        number = 1 if self._which_one is WhichAttempt.FIRST else self._which_one
        return len(self.of(key)) > int(number)

    def captured(self, key: str) -> Sequence[ApiObject]:
        """Return the cluster at the attempt of a pod; empty if there was none."""
        return self._captured.get(key, [])
