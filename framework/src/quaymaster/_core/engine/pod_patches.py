"""Sends patches of pods' statuses to the cluster."""

import logging
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._core.binding.executor import Executor
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import ApiError, Cluster, PodStatusPatch

__all__ = ["PodPatches"]

# Chosen, not measured: equal errors of this time are logged in one line.
_SECONDS_TO_GATHER: Final = 1.0

_log = logging.getLogger(__name__)


class PodPatches:
    """Sends patches of pods' statuses, those of one pod in order, one at a time.

    Workers may overtake each other. Then the nomination of an attempt could be written
    after its failure has removed it, and would reserve resources forever. Pending
    patches of one pod are merged, because only the last state counts.

    Args:
        cluster: The cluster of the pods.
        executor: Makes the calls.
        clock: Schedules the logging of errors.
    """

    def __init__(self, cluster: Cluster, executor: Executor, clock: Clock) -> None:
        self._cluster = cluster
        self._executor = executor
        self._clock = clock
        # Error message -> the keys of the pods, since errors were logged last.
        self._failed: dict[str, list[str]] = {}
        # Uid of each pod whose patch is being sent -> the patches to send after it.
        self._waiting: dict[str, deque[tuple[Pod, PodStatusPatch]]] = {}

    def send(self, pod: Pod, patch: PodStatusPatch) -> None:
        """Send a patch, after the earlier ones of the pod have been answered.

        Errors are logged, in one line for all pods with the same error in a second.
        """
        uid = pod.metadata.uid
        waiting = self._waiting.get(uid)
        if waiting is not None:
            before = waiting.pop()[1] if waiting else PodStatusPatch()
            waiting += [(pod, merged) for merged in _merged(before, patch)]
            return
        self._waiting[uid] = deque()
        self._submit(pod, patch)

    def drop(self, pod: Pod) -> None:
        """Drop the pending patches of a pod: it is being bound, so they are obsolete.

        A condition written after the bind would contradict it.
        """
        waiting = self._waiting.get(pod.metadata.uid) if self._waiting else None
        if waiting:
            waiting.clear()

    def log_failures(self) -> None:
        """Log the errors that have not been logged yet."""
        failed, self._failed = self._failed, {}
        for problem, (first, *others) in failed.items():
            pods = f"pod {first}"
            if others:
                pods = f"{len(others) + 1} pods (the first is {first})"
            _log.error("the status of %s could not be patched: %s", pods, problem)

    def _note_failure(self, pod: Pod, problem: str) -> None:
        if not self._failed:
            self._clock.call_later(
                _SECONDS_TO_GATHER, self.log_failures, background=True
            )
        self._failed.setdefault(problem, []).append(pod.key)

    def _submit(self, pod: Pod, patch: PodStatusPatch) -> None:
        self._executor.submit(
            partial(self._call, pod, patch), partial(self._answered, pod), blocks=False
        )

    def _call(self, pod: Pod, patch: PodStatusPatch) -> ApiError | None:
        try:
            self._cluster.patch_pod_status(pod, patch)
        except ApiError as error:
            return error
        return None

    def _answered(self, pod: Pod, error: ApiError | None) -> None:
        if error is not None:
            self._note_failure(pod, str(error))
        uid = pod.metadata.uid
        waiting = self._waiting[uid]
        if waiting:
            self._submit(*waiting.popleft())
        else:
            del self._waiting[uid]


def _merged(before: PodStatusPatch, patch: PodStatusPatch) -> Sequence[PodStatusPatch]:
    """Return one patch with the effect of both if possible, else both."""
    old, new = before.condition, patch.condition
    if old is not None and new is not None and old.type != new.type:
        return before, patch
    nomination = patch.nominated_node_name
    if nomination is None:
        nomination = before.nominated_node_name
    return [PodStatusPatch(condition=new or old, nominated_node_name=nomination)]
