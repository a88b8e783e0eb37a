"""Patches of pods' statuses, on their way to the cluster."""

import logging
from collections import deque
from collections.abc import Sequence

from quaymaster._binding.executor import Executor
from quaymaster._contract.cluster import ApiError, Cluster, PodStatusPatch
from quaymaster._objects import Pod

__all__ = ["PodPatches"]

_log = logging.getLogger(__name__)


class PodPatches:
    """Sends patches of pods' statuses, those of one pod in order, one at a time.

    Workers may overtake each other. Then the nomination of an attempt could be written
    after its failure has removed it, and would block a place for good. What waits for
    one pod is merged: only the last state counts.

    Args:
        cluster: Where the pods are.
        executor: Makes the calls.
    """

    def __init__(self, cluster: Cluster, executor: Executor) -> None:
        self._cluster = cluster
        self._executor = executor
        # By uid, for each pod with a call under way: what is to be sent after that.
        self._waiting: dict[str, deque[tuple[Pod, PodStatusPatch]]] = {}

    def send(self, pod: Pod, patch: PodStatusPatch) -> None:
        """Send a patch, once those before it have been answered; errors are logged."""
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
        waiting = self._waiting.get(pod.uid)
        if waiting:
            waiting.clear()

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
            _log.error("the status of pod %s could not be patched: %s", pod.key, error)
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
