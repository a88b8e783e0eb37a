"""The scheduling queue with pods of groups: where they are, and which is next.

Mirrors ``PriorityQueue`` with the feature gate GenericWorkload (Kubernetes v1.37,
``pkg/scheduler/backend/queue/scheduling_queue.go``).
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.queueing import PendingPod, QueueName
from quaymaster._core.contract.trace import TraceCallback
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.group_reasons import explain_outside, explain_queued
from quaymaster._core.queue.group_sub_queues import GroupSubQueues
from quaymaster._core.queue.member_pods import MemberPods
from quaymaster._core.queue.nominator import Nominator
from quaymaster._core.queue.profile import QueueProfile
from quaymaster._core.queue.queued_group import QueuedGroup, entity_key
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.rules import RULES_OF_1_37, QueueRules
from quaymaster._core.queue.scheduling_queue import SchedulingQueue
from quaymaster._core.queue.sub_queues import QueueLengths
from quaymaster._core.queue.traced_groups import TracedGroupSubQueues
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._core.state.group_forest import FlatForest

__all__ = ["GroupRecords"]


class GroupRecords(SchedulingQueue, ABC):
    """A scheduling queue that knows pods of groups; `GroupQueue` moves them.

    For the arguments see `SchedulingQueue`.
    """

    _forest_type: ClassVar[type[FlatForest]] = FlatForest

    def __init__(
        self,
        *,
        clock: Clock,
        profiles: Mapping[str, QueueProfile],
        nominator: Nominator,
        backoff: BackoffPolicy | None = None,
        max_in_unschedulable_seconds: float = 300.0,
        flush_gated_pods: bool = False,
        rules: QueueRules = RULES_OF_1_37,
        trace: TraceCallback | None = None,
        metrics: SchedulerMetrics | None = None,
    ) -> None:
        super().__init__(
            clock=clock,
            profiles=profiles,
            nominator=nominator,
            backoff=backoff,
            max_in_unschedulable_seconds=max_in_unschedulable_seconds,
            flush_gated_pods=flush_gated_pods,
            rules=rules,
            trace=trace,
            metrics=metrics,
        )
        parts = (
            clock,
            self._profiles,
            backoff or BackoffPolicy(),
            self._queues.next_ticket,
            self.incoming,
            max_in_unschedulable_seconds,
            self._flush_gated,
            lambda queued, plugin: self._hints.keys_of(queued.pod, plugin),
        )
        traced = trace and TracedGroupSubQueues(*parts, trace)
        self._groups: GroupSubQueues = traced or GroupSubQueues(*parts)
        self._forest = self._forest_type()
        self._incomplete = MemberPods(QueueName.INCOMPLETE)
        self._pending = MemberPods(QueueName.PENDING)
        # The key of the record whose attempt is not over.
        self._in_attempt = ""

    # Order --------------------------------------------------------------------------

    def _is_group_first(self) -> bool:
        """Whether a group is active, and comes before all active pods."""
        group = self._groups.active.peek()
        if group is None:
            return False
        queued = self._queues.active.peek()
        return queued is None or self._is_before(group, queued)

    def _is_before(self, group: QueuedGroup, queued: QueuedPod) -> bool:
        """Whether an active group comes before an active pod."""
        first: tuple[Any, ...] = (group.sort_key, group.ticket)
        # Pods and groups draw tickets from one counter, so that equal keys are tried in
        # the order of arrival across both heaps.
        second: tuple[Any, ...] = (queued.sort_key, queued.ticket)
        _, sort_group, _ = self._profiles[queued.pod.spec.scheduler_name]
        if self._groups.sort_group_of(group) != sort_group:
            # The keys of different queue sort plugins cannot be compared.
            first = (-group.priority, group.timestamp, group.ticket)
            second = (-queued.pod.priority, queued.timestamp, queued.ticket)
        return first < second

    # Queries ------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of queued pods, those of groups included, none in flight."""
        members = len(self._groups.pods) + len(self._incomplete) + len(self._pending)
        return super().__len__() + members

    def __iter__(self) -> Iterator[QueuedPod]:
        """All queued pods, those of groups included, in no particular order."""
        members = (self._groups.pods, self._incomplete.pods, self._pending.pods)
        return chain(super().__iter__(), *(pods.values() for pods in members))

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> QueuedPod | None:
        """Return a queued pod by its ``namespace/name``, or None."""
        return (
            super().get(key)
            or self._groups.pods.get(key)
            or self._incomplete.pods.get(key)
            or self._pending.pods.get(key)
        )

    def records(self) -> Iterator[QueuedPod | QueuedGroup]:
        """Return what waits for an attempt: pods without a group, and groups.

        Incomplete pods do not: only the object of their group can change that.
        """
        return chain(super().__iter__(), self._groups.groups.values())

    def entered_groups(self) -> Mapping[tuple[str, str], int]:
        """Return (queue, label of the cause) -> the number of PodGroups that entered.

        Mirrors the metric ``queue_incoming_entities_total``.
        """
        return self._groups.entered

    def group(self, key: str) -> QueuedGroup | None:
        """Return the record that the pods of a group are queued in, or None.

        Args:
            key: ``namespace/name`` of the PodGroup.
        """
        root = self._forest.root(entity_key(key))
        return None if root is None else self._groups.groups.get(root.entity_key)

    def incomplete(self) -> Sequence[QueuedPod]:
        """Return the pods whose group or a group above it has no object, as arrived."""
        return list(self._incomplete)

    def pending(self) -> Sequence[QueuedPod]:
        """Return the pods that wait for the end of the attempt with their group."""
        return list(self._pending)

    def active(self) -> Sequence[QueuedPod]:
        """Return the active pods, in the order in which they will be tried."""
        pods, groups = [*super().active()], list(self._groups.active)
        merged: list[QueuedPod] = []
        for group in groups:
            while pods and not self._is_before(group, pods[0]):
                # For displays only. `pop` compares just the two first entries.
                merged.append(pods.pop(0))
            merged += group.pods
        return merged + pods

    def backing_off_after_error(self) -> Sequence[QueuedPod]:
        """Return the pods in backoff after an error, and those of groups in backoff."""
        members = (queued for group in self._groups.backoff for queued in group.pods)
        return [*super().backing_off_after_error(), *members]

    def unschedulable(self) -> Sequence[QueuedPod]:
        """Return the rejected and the gated pods, and those of gated groups."""
        gated = self._groups.gated.groups.values()
        members = (queued for group in gated for queued in group.pods)
        return [*super().unschedulable(), *members]

    def lengths(self) -> QueueLengths:
        """Return the number of pods in each queue, and in flight.

        Incomplete and pending pods count as unschedulable.
        """
        pods = super().lengths()
        counts = Counter(queued.queue for queued in self._groups.pods.values())
        outside = len(self._incomplete) + len(self._pending)
        gated = counts[QueueName.UNSCHEDULABLE]
        return QueueLengths(
            active=pods.active + counts[QueueName.ACTIVE],
            backoff=pods.backoff + counts[QueueName.ERROR_BACKOFF],
            unschedulable=pods.unschedulable + gated + outside,
            in_flight=pods.in_flight,
        )

    def why_pending(self, key: str) -> PendingPod | None:
        """Return why a pod is pending; None if it is not queued.

        A pod that waits for its group has neither a condition nor an event. Its gate,
        or that of another pod of its group, is called once more for the message.
        """
        queued = self.get(key)
        if queued is None or not queued.pod.group_key:
            return super().why_pending(key)
        group = self.group(queued.pod.group_key)
        if group is None:
            missing = self._forest.missing(entity_key(queued.pod.group_key))
            return explain_outside(self._explain(queued, None), queued, missing)
        pending = self._explain(queued, self._groups.retry_at(group))
        return explain_queued(pending, queued, group, self._profiles)

    @abstractmethod
    def _flush_gated(self, limit: float) -> None:
        """Call the gates of the groups that are gated since before ``limit``."""
