"""Pods of groups that are queued outside of the records of their groups.

Mirrors Kubernetes v1.37, ``pkg/scheduler/backend/queue/pod_group_member_pods.go``.
"""

from collections.abc import Iterator, Sequence

from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["MemberPods"]


class MemberPods:
    """Pods by their keys, and by the keys of their groups.

    Args:
        queue: The name of this queue, which each of its pods gets.

    Attributes:
        pods: Key of a pod -> its record.
    """

    __slots__ = ("_by_group", "_queue", "pods")

    def __init__(self, queue: QueueName) -> None:
        self._queue = queue
        self.pods: dict[str, QueuedPod] = {}
        self._by_group: dict[str, dict[str, QueuedPod]] = {}

    def __len__(self) -> int:
        return len(self.pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        """All pods, in order of arrival."""
        return iter(self.pods.values())

    def add(self, queued: QueuedPod) -> None:
        """Add a pod."""
        queued.queue = self._queue
        self.pods[queued.key] = queued
        self._by_group.setdefault(queued.pod.group_key, {})[queued.key] = queued

    def remove(self, queued: QueuedPod) -> None:
        """Remove a pod that is here."""
        queued.queue = None
        del self.pods[queued.key]
        group_key = queued.pod.group_key
        members = self._by_group[group_key]
        del members[queued.key]
        if not members:
            del self._by_group[group_key]

    def clear(self, group_key: str) -> Sequence[QueuedPod]:
        """Remove and return all pods of a group, in order of arrival."""
        members = tuple(self._by_group.pop(group_key, {}).values())
        for queued in members:
            queued.queue = None
            del self.pods[queued.key]
        return members
