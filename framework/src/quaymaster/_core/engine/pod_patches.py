"""Patches of pods' statuses, on their way to the cluster."""

import logging
from collections import deque
from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._core.binding.executor import Executor
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import ApiError, Cluster, PodStatusPatch

__all__ = ["PodPatches"]

_SECONDS_TO_GATHER: Final = 1.0  # errors, so that one line tells of many pods

_log = logging.getLogger(__name__)


class PodPatches:
    """Sends patches of pods' statuses, those of one pod in order, one at a time.

    Workers may overtake each other. Then the nomination of an attempt could be written
    after its failure has removed it, and would block a place for good. What waits for
    one pod is merged: only the last state counts.

    Args:
        cluster: Where the pods are.
        executor: Makes the calls.
        clock: Says when to tell of errors.
    """

    def __init__(self, cluster: Cluster, executor: Executor, clock: Clock) -> None:
        self._cluster = cluster
        self._executor = executor
        self._clock = clock
        # By what was wrong: the keys of the pods, since errors were logged last.
        self._failed: dict[str, list[str]] = {}
        # By uid, for each pod with a call under way: what is to be sent after that.
        self._waiting: dict[str, deque[tuple[Pod, PodStatusPatch]]] = {}

    def send(self, pod: Pod, patch: PodStatusPatch) -> None:
        """Send a patch, once those before it have been answered; errors are logged.

        A line tells of all pods that the same error has met within a second.
        """
        waiting = self._waiting.get(pod.uid)
        if waiting is not None:
            before = waiting.pop()[1] if waiting else PodStatusPatch()
            waiting += [(pod, one) for one in _merged(before, patch)]
            return
        self._waiting[pod.uid] = deque()
        self._submit(pod, patch)

    def drop(self, pod: Pod) -> None:
        """Send nothing of what waits for a pod: it gets a node, and all that is past.

        A condition that came after the bind would deny what has happened.
        """
        waiting = self._waiting.get(pod.metadata.uid) if self._waiting else None
        if waiting:
            waiting.clear()

    def log_failures(self) -> None:
        """Log the errors that have not been logged yet."""
        failed, self._failed = self._failed, {}
        for why, (first, *others) in failed.items():
            pods = f"pod {first}"
            if others:
                pods = f"{len(others) + 1} pods (the first is {first})"
            _log.error("the status of %s could not be patched: %s", pods, why)

    def _note_failure(self, pod: Pod, why: str) -> None:
        if not self._failed:
            self._clock.call_later(
                _SECONDS_TO_GATHER, self.log_failures, background=True
            )
        self._failed.setdefault(why, []).append(pod.key)

    def _submit(self, pod: Pod, patch: PodStatusPatch) -> None:
        def call() -> ApiError | None:
            try:
                self._cluster.patch_pod_status(pod, patch)
            except ApiError as error:
                return error
            return None

        self._executor.submit(
            call, lambda error: self._answered(pod, error), blocks=False
        )

    def _answered(self, pod: Pod, error: ApiError | None) -> None:
        if error is not None:
            self._note_failure(pod, str(error))
        waiting = self._waiting[pod.uid]
        if waiting:
            self._submit(*waiting.popleft())
        else:
            del self._waiting[pod.uid]


def _merged(before: PodStatusPatch, patch: PodStatusPatch) -> Sequence[PodStatusPatch]:
    """One patch that does what both do, if there is one."""
    old, new = before.condition, patch.condition
    if old is not None and new is not None and old.type != new.type:
        return before, patch
    nomination = patch.nominated_node_name
    if nomination is None:
        nomination = before.nominated_node_name
    return [PodStatusPatch(condition=new or old, nominated_node_name=nomination)]
