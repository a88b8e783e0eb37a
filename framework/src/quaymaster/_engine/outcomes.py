"""What the turns of a binding cycle do to the queue, the cache and the cluster."""

import logging
from collections.abc import Callable, Iterable, Sequence

from quaymaster._binding.binding_cycle import Attempt
from quaymaster._cache.cache import AssumeError, Cache
from quaymaster._engine.failure import Failure, FailureHandler, FailureKind
from quaymaster._queue import PodLookup, QueuedPod, SchedulingQueue
from quaymaster.objects import Pod
from quaymaster.status import Status

__all__ = ["Outcomes"]

_log = logging.getLogger(__name__)


class Outcomes:
    """Implements `quaymaster._binding.binding_cycle.BindingOutcomes`.

    Args:
        queue: The pods that wait for an attempt.
        cache: What runs where, assumed pods included.
        failures: Requeues pods that failed.
        lookup: The informers' pods.
        bound: Told about each pod that was bound.
        note: Told how each attempt failed.
    """

    def __init__(
        self,
        *,
        queue: SchedulingQueue,
        cache: Cache,
        failures: FailureHandler,
        lookup: PodLookup,
        bound: Callable[[Pod, str], None],
        note: Callable[[Pod, Status], None],
    ) -> None:
        self._queue = queue
        self._cache = cache
        self._failures = failures
        self._lookup = lookup
        self._bound = bound
        self._note = note

    def assume(self, attempt: Attempt[QueuedPod]) -> bool:
        """Count the pod in on its node; it needs no nomination any more."""
        try:
            self._cache.assume(attempt.pod)
        except AssumeError as error:
            failure = Failure(kind=FailureKind.ERROR, message=str(error))
            self._failures.attempt_failed(attempt.queued, failure)
            return False
        self._queue.nominator.delete(attempt.pod)
        return True

    def refused(self, attempt: Attempt[QueuedPod], status: Status) -> None:
        """Reserve or Permit failed at once."""
        self._note(attempt.pod, status)
        failure = Failure.on_node(status)
        self._failures.refused(attempt.queued, attempt.pod, failure)

    def failed(
        self, attempt: Attempt[QueuedPod], status: Status, *, on_permit: bool
    ) -> None:
        """The binding cycle failed."""
        self._note(attempt.pod, status)
        make = Failure.on_permit if on_permit else Failure.on_binding
        self._failures.binding_failed(
            attempt.queued,
            attempt.pod,
            make(status),
            was_nominated=attempt.is_nominated,
        )

    def done(self, attempt: Attempt[QueuedPod]) -> None:
        """From here on no event can be said to help the pod."""
        self._queue.done(attempt.pod.metadata.uid)

    def bound(self, attempt: Attempt[QueuedPod]) -> None:
        """The pod is bound."""
        self._bound(attempt.pod, attempt.node_name)

    def activate(self, keys: Sequence[str]) -> None:
        """Move pods to the active queue, as far as they are still there."""
        listed: Iterable[object] = keys
        try:
            known = [key for key in listed if isinstance(key, str)]
        except Exception:
            _log.exception("pods_to_activate cannot be read, as some plugin left it")
            return
        pods = (self._lookup(key) for key in known)
        self._queue.activate([pod for pod in pods if pod is not None])

    def report(self, errors: Sequence[Status]) -> None:
        """Log failures of hooks that must not fail; their guards tell the rest."""
        for status in errors:
            _log.error("%s", status.message)
