"""The scheduling queue with groups of pods, which are tried as a whole.

Mirrors ``PriorityQueue`` with the feature gate GenericWorkload (Kubernetes v1.37,
``pkg/scheduler/backend/queue/scheduling_queue.go``). An entry of the queue is a root: a
group without a parent.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.groups import GroupObject
from quaymaster._core.contract.cluster_events import ClusterEvent
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.contract.status import Status
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.events import (
    FORCE_ACTIVATE,
    SCHEDULE_ATTEMPT_FAILURE,
    UNSCHEDULABLE_TIMEOUT,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_UPDATE,
)
from quaymaster._core.queue.group_records import GroupRecords
from quaymaster._core.queue.hints import Question, Strategy
from quaymaster._core.queue.profile import QueueProfile
from quaymaster._core.queue.queued_group import QueuedGroup, entity_key
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["GroupQueue"]

_log = logging.getLogger(__name__)

_ADDED = UNSCHEDULED_POD_ADD.label
_CHANGED = UNSCHEDULED_POD_UPDATE.label


class GroupQueue(GroupRecords):
    """All pending pods, those of groups in the records of their groups.

    A pod of a group is in one of three places. It is *incomplete* while the object of
    its group does not exist. It is *pending* while its group is in flight, until
    `add_attempted_group`. Else it is in the record of its group, a `QueuedGroup`, which
    is queued as a pod is.

    For the arguments see `SchedulingQueue`.
    """

    # Objects of groups --------------------------------------------------------------

    def add_group(self, group: GroupObject) -> None:
        """Handle a new object, for which pods may wait."""
        self._forest.put(group)
        root = self._forest.root(group.entity_key)
        if root is None:
            return
        released = [
            queued
            for leaf in self._forest.leaves(root.entity_key)
            for queued in self._incomplete.clear(leaf.key)
        ]
        for queued in released:
            self._join(queued)

    def update_group(self, group: GroupObject) -> None:
        """Handle a changed object; no pod moves."""
        self._forest.put(group)
        queued_group = self._groups.groups.get(group.entity_key)
        if queued_group is not None:
            queued_group.group = group
            self._groups.reposition(queued_group)

    def delete_group(self, group: GroupObject) -> None:
        """Handle a deleted object: the pods below it wait for the next one."""
        forest = self._forest
        root = forest.root(group.entity_key)
        below = forest.leaves(group.entity_key)
        forest.remove(group)
        if root is None:
            return
        queued_group = self._groups.groups.get(root.entity_key)
        keys = {leaf.key for leaf in below}
        if queued_group is not None:
            members = self._groups.part(queued_group, keys, _CHANGED)
        else:
            members = [queued for key in keys for queued in self._pending.clear(key)]
        for queued in members:
            self._incomplete.add(queued)

    # Life of a group ----------------------------------------------------------------

    def pop(self) -> QueuedPod | QueuedGroup | None:  # type: ignore[override] # below
        """Remove the next pod or group to be tried, as `SchedulingQueue.pop` does.

        Only a scheduler with groups has this queue, and it expects groups. All pods of
        the group are in flight until `done`.
        """
        self._in_attempt = ""
        while self._is_group_first():
            group = self._groups.pop()
            assert group is not None, "it is the first"
            if self._start_attempt(group):
                self._in_attempt = group.key
                return group
        return super().pop()

    def peek(self) -> QueuedPod | QueuedGroup | None:  # type: ignore[override] # as pop
        """Return the pod or the group that `pop` would return, or None."""
        return self._groups.active.peek() if self._is_group_first() else super().peek()

    def add_attempted_group(
        self,
        group: QueuedGroup,
        left_over: Iterable[QueuedPod] = (),
        status: Status | None = None,
    ) -> None:
        """Requeue a popped group, if any of its pods is left; its attempt is over.

        After a success, it is tried again at once, else after a backoff. Events do not
        shorten the backoff: ``AddAttemptedPodGroupIfNeeded``.

        Args:
            group: The popped record.
            left_over: Pods that failed in this attempt and are still in flight; others
                are back already, by `add_unschedulable`.
            status: How the attempt with the group ended; None for a success.
        """
        if group.key in self._groups.groups:
            _log.error("group %s is in the queue already", group.key)
            return
        for queued in left_over:
            if queued.pod.metadata.uid in self._in_flight:
                self.add_unschedulable(queued)
        self._in_attempt = ""
        tried = {queued.pod.metadata.uid for queued in group.pods}
        members = self._clear_pending(group)
        if not members:
            return
        newest = self._forest.get(group.key)
        if newest is None:
            for queued in members:
                self._incomplete.add(queued)
            return
        group.group = newest
        group.pods = []
        # The pods of the attempt are not put back as they were: members that came or
        # went in the meantime are in `members`, in the order that `add` gives them.
        for queued in members:
            group.add(queued)
        has_failed = any(queued.pod.metadata.uid in tried for queued in members)
        self._count_attempt(group, status, has_failed=has_failed)
        self._groups.restart(
            group, SCHEDULE_ATTEMPT_FAILURE, backs_off=status is not None
        )

    def _clear_pending(self, group: QueuedGroup) -> Sequence[QueuedPod]:
        """Remove and return the pods that wait for the end of an attempt."""
        return [
            queued
            for leaf in self._forest.leaves(group.key)
            for queued in self._pending.clear(leaf.key)
        ]

    def _start_attempt(self, group: QueuedGroup) -> bool:
        """Note that the pods of a popped group are in flight; whether any is."""
        group.attempts += 1
        pods = []
        for queued in group.pods:
            queued.attempts += 1
            if self._in_flight.start(queued.pod.metadata.uid):
                pods.append(queued)
            else:
                text = "pod %s is in flight already: popped pod dropped"
                _log.error(text, queued.key)
        group.pods = pods
        return bool(pods)

    def _count_attempt(
        self, group: QueuedGroup, status: Status | None, *, has_failed: bool
    ) -> None:
        """Note in the record of a group how its attempt ended.

        After a success, a group with failed pods keeps its place in the order: it is
        tried again at once, so that preemption is tried for these pods.
        """
        if status is None:
            # The kept end of the backoff stays as it is, as upstream's does. It is not
            # read: a group without failures has no backoff.
            group.unschedulable_count = group.consecutive_errors_count = 0
        elif status.is_rejected:
            group.unschedulable_count += 1
            group.consecutive_errors_count = 0
            group.backoff_expiration = None
        else:
            group.consecutive_errors_count += 1
            group.backoff_expiration = None
        # After a success with pods left over, the group keeps its time:
        # ``AddAttemptedPodGroupIfNeeded`` lets it be the next again, so that it can
        # preempt at once.
        if status is not None or not has_failed:
            group.timestamp = self._clock.now()
        group.was_flushed = False

    # Pods of groups -----------------------------------------------------------------

    def add_unschedulable(self, queued: QueuedPod) -> None:
        """Requeue a popped pod whose attempt failed; see `SchedulingQueue`.

        A pod of a group joins its group wherever that is. Events do not matter.
        """
        if not queued.pod.group_key:
            super().add_unschedulable(queued)
            return
        self._in_flight.done(queued.pod.metadata.uid)
        if queued.key in self:
            _log.error("pod %s is in the queue already", queued.key)
        elif queued.pod.spec.scheduler_name in self._profiles:
            self._count_failure(queued)
            self._join(queued)

    def update(self, old: Pod, new: Pod, changes: Sequence[ClusterEvent]) -> None:
        """Handle a change of a pod; see `SchedulingQueue`."""
        key = old.group_key
        if not key:
            super().update(old, new, changes)
            return
        queued = self.get(old.key)
        if queued is not None and queued.pod.metadata.uid != new.metadata.uid:
            self._arrive(new, self._rules.late_pod_label)
        elif new.metadata.uid in self._in_flight:
            for event in changes:
                self._in_flight.record(event, old, new)
        elif queued is not None:
            queued.pod = new
            # The nominator stores pods and not names, so it needs each new version,
            # also if nothing about the nomination changes.
            self.nominator.update(old, new)
            self._changed(queued, old, changes)
        elif self._forest.root(entity_key(key)) is not None:
            # Upstream does not add such a pod while its group has no object.
            self._arrive(new, self._rules.late_pod_label)

    def delete(self, pod: Pod) -> None:
        """Remove a deleted or bound pod; see `SchedulingQueue`."""
        if not pod.group_key:
            super().delete(pod)
            return
        if self._held is not None:
            self._held.delete(pod)
        self.nominator.delete(pod)
        self._delete_member(pod)

    def _arrive(self, pod: Pod, label: str) -> None:
        if not pod.group_key:
            # A pod of this name may still be queued in a group: ``schedulingGroup``
            # cannot be changed, but a deleted pod may have a namesake without it, and
            # its event may come first.
            older = self.get(pod.key)
            if older is not None and older.pod.group_key:
                self._replace(older)
            super()._arrive(pod, label)
            return
        if self._held is not None and self._held.hold(pod):
            return
        older = self.get(pod.key)
        if older is not None:
            self._replace(older)
        self.nominator.add(pod)
        self._join(QueuedPod(pod, self._clock.now(), pod.key))

    def _replace(self, older: QueuedPod) -> None:
        """Remove the record of an older pod with the name of a new one."""
        self.nominator.delete(older.pod)
        if older.pod.group_key:
            self._delete_member(older.pod)
        else:
            self._queues.leave(older)

    def _join(self, queued: QueuedPod) -> None:
        """Add a pod to its group, wherever that is: ``addPodGroupMember``."""
        root = self._forest.root(entity_key(queued.pod.group_key))
        if root is None:
            self._incomplete.add(queued)
            return
        queued_group = self._groups.groups.get(root.entity_key)
        if queued_group is not None:
            self._groups.join(queued_group, queued, _ADDED)
        elif root.entity_key == self._in_attempt:
            self._pending.add(queued)
        else:
            self._groups.start(self._record_of(root, queued), _ADDED)

    def _record_of(self, root: GroupObject, first: QueuedPod) -> QueuedGroup:
        """Return the record of a tree whose first pod enters the queue."""
        return QueuedGroup.of(root, first)

    def _delete_member(self, pod: Pod) -> None:
        """Remove a pod of a group: ``deletePodGroupMember``."""
        key = pod.key
        queued_group = self.group(pod.group_key)
        if queued_group is not None:
            # The group is requeued even if the pod was bound by its last attempt.
            self._groups.delete(queued_group, self._groups.pods.get(key), _ADDED)
            return
        for members in (self._incomplete, self._pending):
            queued = members.pods.get(key)
            if queued is not None:
                members.remove(queued)

    def _changed(
        self, queued: QueuedPod, old: Pod, changes: Sequence[ClusterEvent]
    ) -> None:
        """Move the group of a changed pod, if it is queued."""
        group = self.group(queued.pod.group_key)
        if group is None:
            return
        self._groups.changed(group, queued)
        if group.queue is not QueueName.UNSCHEDULABLE:
            return
        for event in changes:
            question = self._question(self._hints, event, old, queued.pod)
            self._groups.requeue(group, _strategy(group, question), event.label)
            if group.queue is not QueueName.UNSCHEDULABLE:
                return

    def _activate(self, pod: Pod) -> bool:
        if not pod.group_key:
            return super()._activate(pod)
        group = self.group(pod.group_key)
        # A group moves as a whole, so that activating one of its pods activates all.
        if group is None or group.queue is QueueName.ACTIVE:
            return False
        from_backoff = group.queue is not QueueName.UNSCHEDULABLE
        label = FORCE_ACTIVATE.label
        return self._groups.to_active(group, label, from_backoff=from_backoff)

    def _reorder(self, pod: Pod) -> None:
        group = self.group(pod.group_key) if pod.group_key else None
        if group is None:
            super()._reorder(pod)
        else:
            self._groups.reposition(group)

    # Events -------------------------------------------------------------------------

    def start(self) -> None:
        """See `SchedulingQueue`."""
        super().start()
        self._groups.flushes.start()

    def rest(self, is_resting: bool) -> None:
        """See `SchedulingQueue`."""
        super().rest(is_resting)
        self._groups.flushes.rest(is_resting)

    def reload(
        self, profiles: Mapping[str, QueueProfile], backoff: BackoffPolicy
    ) -> Sequence[QueuedPod]:
        """See `SchedulingQueue`."""
        removed = [*super().reload(profiles, backoff)]
        members = [*self._groups.renew(self._profiles, backoff)]
        for queued in tuple(self._incomplete):
            if queued.pod.spec.scheduler_name not in self._profiles:
                self._incomplete.remove(queued)
                members.append(queued)
        for queued in members:
            self.nominator.delete(queued.pod)
        return [*removed, *members]

    def move_all(
        self,
        event: ClusterEvent,
        old: ApiObject | None = None,
        new: ApiObject | None = None,
        *,
        pre_check: Callable[[Pod], bool] | None = None,
    ) -> None:
        """Wake the unschedulable pods and the gated groups that an event may help.

        For the arguments see `SchedulingQueue`. A group is considered if at least one
        of its pods passes ``pre_check``.
        """
        super().move_all(event, old, new, pre_check=pre_check)
        gated = self._groups.gated
        if not gated.groups:
            return
        groups: Sequence[QueuedGroup] = tuple(gated.groups.values())
        if not event.is_wildcard:
            plugins = self._hints.keys_by_plugin(event, old, new)
            if not plugins:
                return
            groups = gated.rejected_by(plugins)
        for group in groups:
            if pre_check is None or any(pre_check(queued.pod) for queued in group.pods):
                self._wake_group(group, event, old, new)

    def _wake_group(
        self,
        group: QueuedGroup,
        event: ClusterEvent,
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> None:
        gate = group.gating_plugin
        if gate and not self._may_ungate(gate, event):
            return
        question = self._question(self._hints, event, old, new)
        strategy = _strategy(group, question)
        if strategy is not Strategy.SKIP:
            self._groups.requeue(group, strategy, event.label, as_new=True)

    def _flush_gated(self, limit: float) -> None:
        """Ask the gates of the groups that are gated since before ``limit``."""
        gated = self._groups.gated
        for group in gated.starts.late(limit):
            group.was_flushed = True
            group.gate_called_at = self._clock.now()
            for queued in group.pods:
                queued.was_flushed = True
            self._wake_group(group, UNSCHEDULABLE_TIMEOUT, None, None)
            if group.queue is QueueName.UNSCHEDULABLE:
                gated.starts.put(group)
        oldest = gated.starts.oldest()
        if oldest is not None:
            self._groups.flushes.expect_unschedulable(oldest)


def _strategy(group: QueuedGroup, question: Question) -> Strategy:
    """Return how an event moves a group: as the pod that it helps most.

    A pod that no plugin has rejected counts as helped: ``isEntityWorthRequeuing``.
    """
    # A group is only held with pods that no plugin returned Pending for.
    others = group.pods if group.held is None else group.joined.values()
    may_skip_backoff = any(queued.pending_plugins for queued in others)
    best = Strategy.SKIP
    for queued in group.pods:
        strategy = Strategy.AFTER_BACKOFF
        if queued.rejectors:
            strategy = question.strategy(queued)
        if strategy is Strategy.IMMEDIATELY:
            return strategy
        if strategy is Strategy.AFTER_BACKOFF:
            best = strategy
            if not may_skip_backoff:
                break  # no other pod can change the result
    return best
