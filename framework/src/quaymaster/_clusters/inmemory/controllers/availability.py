"""When pods are available: ready for the time that their workload prescribes.

Mirrors ``IsPodAvailable`` (``pkg/api/v1/pod/util.go``, Kubernetes v1.37).
"""

from collections.abc import Callable
from functools import partial

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._core.contract.clock import Clock

__all__ = ["Availability", "ready_since"]


def ready_since(pod: Pod) -> float | None:
    """Return since when a pod has been ready; None if it is not ready."""
    for condition in pod.status.conditions:
        if condition.type == "Ready":
            if condition.status != "True":
                return None
            # A condition without a time, from a manifest, counts as ready since ever.
            return condition.last_transition_time or 0.0
    return None


class Availability:
    """Decides which pods are available, and syncs their workload when more are.

    Args:
        clock: The cluster's time.
        mark: Called with a workload when one of its pods may have become available.
    """

    def __init__(
        self, clock: Clock, mark: Callable[[type[ApiObject], str], None]
    ) -> None:
        self._clock = clock
        self._mark = mark
        # Each pending check once: a large Deployment would otherwise set one timer for
        # each pod and sync.
        self._checks: set[tuple[type[ApiObject], str, float]] = set()

    def is_available(self, pod: Pod, owner: ApiObject, min_ready_seconds: int) -> bool:
        """Return whether a pod is available; if it is not yet, check it again then.

        Args:
            pod: The pod.
            owner: The workload that is synced when the pod is available.
            min_ready_seconds: How long the pod must have been ready.
        """
        since = ready_since(pod)
        if since is None:
            return False
        due = since + min_ready_seconds
        # As upstream, zero is a case of its own: the time of the condition, which a
        # manifest may set, is not compared with the clock.
        if min_ready_seconds == 0 or due <= self._clock.now():
            return True
        self.check_at(owner, due)
        return False

    def check_at(self, owner: ApiObject, due: float) -> None:
        """Sync a workload at a time."""
        check = (type(owner), owner.key, due)
        if check not in self._checks:
            self._checks.add(check)
            self._clock.call_at(due, partial(self._check, *check))

    def _check(self, kind: type[ApiObject], key: str, due: float) -> None:
        self._checks.discard((kind, key, due))
        self._mark(kind, key)
