"""Queues of groups that trace the moves of pods; used only if the topic is traced."""

from collections import Counter
from collections.abc import Callable, Iterable

from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.contract.trace import TraceCallback
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.group_sub_queues import GroupSubQueues
from quaymaster._core.queue.profile import CompiledProfiles
from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.unschedulable_pods import KeysOf

__all__ = ["TracedGroupSubQueues"]


class TracedGroupSubQueues(GroupSubQueues):
    """The queues of groups, with a line for each pod that enters or leaves.

    A group that stays where it is writes no line, so that a large gang writes one line
    for each new pod.

    Args:
        trace: Writes the lines; for the others see `GroupSubQueues`.
    """

    def __init__(
        self,
        clock: Clock,
        profiles: CompiledProfiles,
        policy: BackoffPolicy,
        next_ticket: Callable[[], int],
        incoming: Counter[tuple[str, str]],
        max_in_unschedulable_seconds: float,
        flush_gated: Callable[[float], None],
        keys_of: KeysOf[QueuedPod],
        trace: TraceCallback,
    ) -> None:
        super().__init__(
            clock,
            profiles,
            policy,
            next_ticket,
            incoming,
            max_in_unschedulable_seconds,
            flush_gated,
            keys_of,
        )
        self._trace = trace

    def join(self, group: QueuedGroup, queued: QueuedPod, label: str) -> None:
        """See `GroupSubQueues`."""
        queue = group.queue
        super().join(group, queued, label)
        if group.queue == queue:
            self._entered(group, (queued,), label)

    def delete(self, group: QueuedGroup, queued: QueuedPod | None, label: str) -> None:
        """See `GroupSubQueues`."""
        super().delete(group, queued, label)
        if queued is not None:
            self._trace("delete", queued.pod, group=group.group_key)

    def pop(self) -> QueuedGroup | None:
        """See `GroupSubQueues`."""
        group = super().pop()
        if group is not None:
            for queued in group.pods:
                attempt = queued.attempts + 1
                self._trace("pop", queued.pod, group=group.group_key, attempt=attempt)
        return group

    def to_active(
        self,
        group: QueuedGroup,
        label: str,
        *,
        from_backoff: bool = False,
        as_new: bool = False,
    ) -> bool:
        """See `GroupSubQueues`."""
        queue = group.queue
        is_active = super().to_active(
            group, label, from_backoff=from_backoff, as_new=as_new
        )
        if is_active and queue is not QueueName.ACTIVE:
            self._entered(group, group.pods, label)
        return is_active

    def _to_backoff(self, group: QueuedGroup, label: str, as_new: bool) -> None:
        queue = group.queue
        super()._to_backoff(group, label, as_new)
        if not group.is_gated and queue is not QueueName.ERROR_BACKOFF:
            self._entered(group, group.pods, label)

    def _hold_back(self, group: QueuedGroup, label: str, as_new: bool) -> None:
        queue = group.queue
        super()._hold_back(group, label, as_new)
        if queue is not QueueName.UNSCHEDULABLE:
            self._entered(group, group.pods, label)

    def _entered(
        self, group: QueuedGroup, pods: Iterable[QueuedPod], label: str
    ) -> None:
        assert group.queue is not None, "it is queued"
        for queued in pods:
            self._trace(
                "enter",
                queued.pod,
                group=group.group_key,
                queue=group.queue.value,
                cause=label,
                gated_by=group.gating_plugin,
                rejected_by=",".join(sorted(queued.rejectors)),
                attempts=queued.attempts,
            )
