"""The unschedulable pods of a queue, with those that wait for the flush."""

from collections.abc import Callable, Sequence

from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.unschedulable_pods import KeysOf, UnschedulablePods
from quaymaster._core.queue.wait_starts import WaitStarts

__all__ = ["UnschedulableQueue"]


class UnschedulableQueue(UnschedulablePods[QueuedPod]):
    """Rejected and gated pods by key, by plugin, and by the start of their wait.

    Args:
        keys_of: Returns the keys of a pod for a plugin.
        skips_flush: Whether the flush leaves a gated pod alone.
    """

    __slots__ = ("_skips_flush", "_starts")

    def __init__(
        self, keys_of: KeysOf[QueuedPod], skips_flush: Callable[[QueuedPod], bool]
    ) -> None:
        super().__init__(keys_of)
        self._skips_flush = skips_flush
        self._starts: WaitStarts[QueuedPod] = WaitStarts()

    def put(self, queued: QueuedPod) -> None:
        """Add a pod, or update it when it or its plugins have changed."""
        super().put(queued)
        if queued.gating_plugin and self._skips_flush(queued):
            self._starts.remove(queued.key)
        else:
            self._starts.put(queued)

    def remove(self, queued: QueuedPod) -> None:
        """Remove a pod."""
        super().remove(queued)
        self._starts.remove(queued.key)

    def move_to_end(self, queued: QueuedPod, rejectors: frozenset[str]) -> None:
        """Treat a pod that stays as the last one to arrive; its wait starts again."""
        super().move_to_end(queued, rejectors)
        if self._skips_flush(queued):
            self._starts.remove(queued.key)
        else:
            self._starts.restart(queued)

    def late(self, limit: float) -> Sequence[QueuedPod]:
        """Return the pods that have waited since before ``limit``, each once."""
        return self._starts.late(limit)

    def oldest(self) -> float | None:
        """Return when the longest wait began; -inf if a late pod stayed, or None."""
        return self._starts.oldest()
