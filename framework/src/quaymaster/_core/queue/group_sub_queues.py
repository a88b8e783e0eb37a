"""The queues that a group of pods can be in, and the moves between them.

The counterpart of `SubQueues`. A group has fewer places than a pod: no plugin rejects
the group itself, so that it backs off as after an error, and waits for events only
while one of its pods is gated. Mirrors Kubernetes v1.37,
``pkg/scheduler/backend/queue/scheduling_queue.go`` and ``backoff_queue.go``.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from quaymaster._api.objects.groups import PodGroup
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.queueing import QueueName, SortKey
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.events import BACKOFF_COMPLETE, CONFIG_RELOAD
from quaymaster._core.queue.flushes import Flushes
from quaymaster._core.queue.gated_groups import GatedGroups
from quaymaster._core.queue.group_gates import passes_group_gates
from quaymaster._core.queue.hints import Strategy
from quaymaster._core.queue.pod_heap import PodHeap
from quaymaster._core.queue.profile import CompiledProfiles
from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.unschedulable_pods import KeysOf

__all__ = ["GroupSubQueues"]

_ACTIVE = QueueName.ACTIVE
_BACKOFF = QueueName.ERROR_BACKOFF
_GATED = QueueName.UNSCHEDULABLE


class GroupSubQueues:
    """Every queued group by its key, in exactly one of three queues.

    Args:
        clock: Gives the time.
        profiles: Sort keys and gates.
        policy: The backoff of failed groups.
        next_ticket: Returns the next ticket; shared with the heaps of pods.
        incoming: Counts the pods that enter, as in `SubQueues`.
        max_in_unschedulable_seconds: The maximum time that a group stays gated.
        flush_gated: Asks the gates of the groups that are gated since before a time.
        keys_of: Returns the keys by which plugins find gated pods.

    Attributes:
        groups: The groups of all queues.
        pods: Key of a pod -> its record, for all pods of these groups.
        active: The groups that are ready to be tried.
        backoff: The groups that wait after an attempt.
        gated: The groups with a gated pod.
        flushes: The timers that move groups without an event.
        entered: (queue, label of the cause) -> the number of PodGroups that entered it
            from elsewhere. Upstream does not count composite groups.
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
    ) -> None:
        self._clock = clock
        self._next_ticket = next_ticket
        self._incoming = incoming
        self.entered: Counter[tuple[str, str]] = Counter()
        self.groups: dict[str, QueuedGroup] = {}
        self.pods: dict[str, QueuedPod] = {}
        self._adopt(profiles, policy)
        self.gated = GatedGroups(keys_of)
        self.flushes = Flushes(
            clock, max_in_unschedulable_seconds, self._flush_backoff, flush_gated
        )

    # Pods of groups -----------------------------------------------------------------

    def start(self, group: QueuedGroup, label: str) -> None:
        """Queue a group that is in no queue, with all its pods."""
        self.pods.update((queued.key, queued) for queued in group.pods)
        self.to_active(group, label)

    def restart(self, group: QueuedGroup, label: str, *, backs_off: bool) -> None:
        """Queue a group again after its attempt, with the pods that are left."""
        self.pods.update((queued.key, queued) for queued in group.pods)
        strategy = Strategy.AFTER_BACKOFF if backs_off else Strategy.IMMEDIATELY
        self.requeue(group, strategy, label)

    def join(self, group: QueuedGroup, queued: QueuedPod, label: str) -> None:
        """Add a pod to a queued group, and move the group as its queue requires."""
        group.add(queued)
        self.pods[queued.key] = queued
        queued.queue = group.queue
        if group.queue is _GATED:
            # As `requeue` does, for the one pod that is new.
            self._count("unschedulable", label, group, is_new=False)
            self.gated.join(group, queued)
        else:
            self.requeue(group, _strategy_of(group), label)

    def delete(self, group: QueuedGroup, queued: QueuedPod | None, label: str) -> None:
        """Remove a pod from a queued group, and move the group as its queue requires.

        Args:
            group: The group; it ends with its last pod.
            queued: The pod; None if it was not among the queued pods of the group.
            label: The label of the cause.
        """
        if queued is not None:
            # Before the pod is removed: the entry of the group must not keep the
            # plugins of a pod that a namesake replaces.
            self.gated.changed(group, queued)
            group.remove(queued)
            self._drop(queued)
        if group.pods:
            self.requeue(group, _strategy_of(group), label, as_new=True)
        else:
            self._leave(group)

    def part(
        self, group: QueuedGroup, keys: Collection[str], label: str
    ) -> Sequence[QueuedPod]:
        """Remove the pods of some PodGroups from a record; it ends with its last pod.

        Args:
            group: The record.
            keys: ``namespace/name`` of each of these PodGroups.
            label: The label of the cause.

        Returns:
            The removed pods.
        """
        group.release()
        removed = [queued for queued in group.pods if queued.pod.group_key in keys]
        group.pods = [
            queued for queued in group.pods if queued.pod.group_key not in keys
        ]
        for queued in removed:
            self.gated.changed(group, queued)
            self._drop(queued)
        if group.pods:
            self.requeue(group, _strategy_of(group), label, as_new=True)
        else:
            self._leave(group)
        return removed

    def changed(self, group: QueuedGroup, queued: QueuedPod) -> None:
        """Note that a pod of a queued group has changed."""
        group.release()
        self.gated.changed(group, queued)
        self.reposition(group)

    # Moves --------------------------------------------------------------------------

    def to_active(
        self,
        group: QueuedGroup,
        label: str,
        *,
        from_backoff: bool = False,
        as_new: bool = False,
    ) -> bool:
        """Make a group active unless a pod of it is gated; return whether it is active.

        Args:
            group: The group.
            label: The label of the cause.
            from_backoff: Whether it comes from the backoff queue, before which the
                gates were called.
            as_new: See `requeue`.
        """
        # From the backoff the gates are not called again: the group has passed them on
        # its way in (``skipPreEnqueue`` in ``moveToActiveQ``).
        if not from_backoff and not passes_group_gates(group, self._profiles):
            self._hold_back(group, label, as_new)
            return False
        now = self._clock.now()
        if group.initial_attempt_timestamp is None:
            group.initial_attempt_timestamp = now
        for queued in group.pods:
            if queued.initial_attempt_timestamp is None:
                queued.initial_attempt_timestamp = now
        self._count("active", label, group, is_new=group.queue is not _ACTIVE)
        self._enter(group, _ACTIVE)
        self.active.push(group, *self._place(group))
        return True

    def requeue(
        self,
        group: QueuedGroup,
        strategy: Strategy,
        label: str,
        *,
        as_new: bool = False,
    ) -> None:
        """Move a group to the queue for a strategy.

        Args:
            group: The group.
            strategy: How the event moves it.
            label: The label of the cause.
            as_new: Whether a group that stays gated counts as one that enters.
        """
        if strategy is Strategy.SKIP:
            self._hold_back(group, label, as_new)
        elif strategy is Strategy.AFTER_BACKOFF and self._is_backing_off(group):
            self._to_backoff(group, label, as_new)
        else:
            self.to_active(group, label, as_new=as_new)

    def pop(self) -> QueuedGroup | None:
        """Remove and return the first active group, or None."""
        group = self.active.pop()
        if group is not None:
            del self.groups[group.key]
            group.queue = None
            for queued in group.pods:
                self._drop(queued)
        return group

    def reposition(self, group: QueuedGroup) -> None:
        """Move a changed group to its new position among the active groups."""
        if group.queue is not _ACTIVE:
            return
        key, heap = self._place(group)
        # An equal key keeps its ticket, and so its place among equals.
        if key != group.sort_key:
            self.active.remove(group)
            self.active.push(group, key, heap)

    def sort_group_of(self, group: QueuedGroup) -> int:
        """Return the number of the sort group that orders a group."""
        return self._profiles[group.pods[0].pod.spec.scheduler_name][1]

    def retry_at(self, group: QueuedGroup) -> float | None:
        """Return when a group is retried without an event; None if active or gated."""
        if group.queue is not _BACKOFF:
            return None
        assert group.backoff_expiration is not None, "it is backing off"
        return self.flushes.backoff_at(group.backoff_expiration)

    def renew(
        self, profiles: CompiledProfiles, policy: BackoffPolicy
    ) -> Sequence[QueuedPod]:
        """Move every group to its queue under new profiles; see `renewal.renew`.

        Returns:
            The removed pods, whose scheduler name no longer has a profile.
        """
        active = list(self.active)
        others = [*self.backoff, *self.gated.groups.values()]
        # All groups leave their queues first. Only then may the profiles change,
        # because heaps compare keys of one profile's plugins.
        removed: list[QueuedPod] = []
        for group in (*active, *others):
            self._leave(group)
            group.release()
            group.backoff_expiration = None
            for queued in tuple(group.pods):
                if queued.pod.spec.scheduler_name not in profiles:
                    group.remove(queued)
                    self._drop(queued)
                    removed.append(queued)
        self._adopt(profiles, policy)
        for group in filter(_has_pods, active):
            self.to_active(group, CONFIG_RELOAD.label)
        for group in filter(_has_pods, others):
            self.requeue(group, Strategy.AFTER_BACKOFF, CONFIG_RELOAD.label)
        return removed

    def _adopt(self, profiles: CompiledProfiles, policy: BackoffPolicy) -> None:
        self._profiles = profiles
        self._policy = policy
        tickets, heaps = self._next_ticket, profiles.groups
        self.active: PodHeap[QueuedGroup] = PodHeap(tickets, _rank, heaps)
        self.backoff: PodHeap[QueuedGroup] = PodHeap(tickets, _rank)

    def _drop(self, queued: QueuedPod) -> None:
        queued.queue = None
        del self.pods[queued.key]

    def _count(
        self, queue: str, label: str, group: QueuedGroup, *, is_new: bool
    ) -> None:
        """Count a group that enters a queue, or that stays there with another pod.

        Mirrors ``recordIncomingEntitiesMetrics``.
        """
        # Upstream's metric scheduler_queue_incoming_pods_total counts each pod of a
        # group.
        self._incoming[queue, label] += len(group.pods)
        if is_new and isinstance(group.group, PodGroup):
            self.entered[queue, label] += 1

    def _enter(self, group: QueuedGroup, queue: QueueName) -> None:
        """Move a group to a queue, in which it gets its place afterwards."""
        if group.queue is not None:
            self._take_out(group)
        self.groups[group.key] = group
        if group.queue != queue:
            group.queue = queue
            for queued in group.pods:
                queued.queue = queue

    def _leave(self, group: QueuedGroup) -> None:
        """Remove a group from all queues."""
        self._take_out(group)
        del self.groups[group.key]
        group.queue = None

    def _take_out(self, group: QueuedGroup) -> None:
        """Remove a group from its place in its queue."""
        if group.queue is _ACTIVE:
            self.active.remove(group)
        elif group.queue is _BACKOFF:
            self.backoff.remove(group)
        else:
            self.gated.remove(group)

    def _place(self, group: QueuedGroup) -> tuple[SortKey, int]:
        """Return the sort key of a group, and the number of its sort group."""
        name = group.pods[0].pod.spec.scheduler_name
        sort_key, heap, _ = self._profiles[name]
        return sort_key(group), heap

    def _to_backoff(self, group: QueuedGroup, label: str, as_new: bool) -> None:
        if not passes_group_gates(group, self._profiles):
            self._hold_back(group, label, as_new)
            return
        expiration = self._policy.expiration(group, len(group.pods))
        assert expiration is not None, "only groups with a backoff come here"
        self._count("backoff", label, group, is_new=group.queue is not _BACKOFF)
        self._enter(group, _BACKOFF)
        self.backoff.push(group, expiration)
        self.flushes.expect_backoff(expiration)

    def _hold_back(self, group: QueuedGroup, label: str, as_new: bool) -> None:
        """Move a group to the gated groups, or keep it there."""
        is_new = group.queue is not _GATED
        if as_new or is_new:
            self._count("unschedulable", label, group, is_new=is_new)
        if is_new:
            self._enter(group, _GATED)
        if group.was_flushed:
            group.was_flushed = False
            for queued in group.pods:
                queued.was_flushed = False
        self.gated.put(group)
        self.flushes.expect_unschedulable(group.unhelped_since)

    def _is_backing_off(self, group: QueuedGroup) -> bool:
        expiration = self._policy.expiration(group, len(group.pods))
        return expiration is not None and expiration >= math.floor(self._clock.now())

    def _flush_backoff(self) -> None:
        """Make the groups active whose backoff is over."""
        second = math.floor(self._clock.now())
        while (group := self.backoff.peek()) is not None:
            expiration = group.backoff_expiration
            assert expiration is not None, "it was computed by _to_backoff"
            if expiration >= second:
                self.flushes.expect_backoff(expiration)
                break
            self.to_active(group, BACKOFF_COMPLETE, from_backoff=True)


def _strategy_of(group: QueuedGroup) -> Strategy:
    """Return the strategy that leads back to the queue that a group is in."""
    if group.queue is _ACTIVE:
        return Strategy.IMMEDIATELY
    return Strategy.AFTER_BACKOFF if group.queue is _BACKOFF else Strategy.SKIP


def _has_pods(group: QueuedGroup) -> bool:
    return bool(group.pods)


def _rank(group: QueuedGroup) -> tuple[float, float, int]:
    """Return the rank of a group among groups whose sort keys cannot be compared."""
    return (-group.priority, group.timestamp, group.ticket)
