"""Coscheduling: the pods of a group are bound together, or none of them.

Mirrors ``Coscheduling`` and ``PodGroupManager`` (scheduler-plugins v0.34.7,
``pkg/coscheduling/coscheduling.go`` and ``core/core.go``); the README lists what is
different.
"""

import enum
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    NodeTable,
    PermitWait,
    Pod,
    QueuedPodInfo,
    QueueingHint,
    StateKey,
    Status,
    WaitingPod,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.cluster import Verb, Write

from quaymaster_coscheduling.args import CoschedulingArgs
from quaymaster_coscheduling.cluster_changes import OTHER_KINDS, ClusterChanges
from quaymaster_coscheduling.gangs import Gangs
from quaymaster_coscheduling.impasses import Impasses
from quaymaster_coscheduling.pod_group import PodGroup, group_key
from quaymaster_coscheduling.room import resource_gap
from quaymaster_coscheduling.statuses import Statuses

__all__ = ["Coscheduling"]

_DEFAULT_WAIT_SECONDS: Final = 60


class _Refusal(enum.Enum):
    """Why PreFilter refused a pod."""

    BACKOFF = "the group failed recently"
    MEMBERS = "too few members, or too few without gates"
    ROOM = "too little is left for the group"
    IMPASSE = "nothing has changed since it did not fit"


_REFUSAL: Final = StateKey[_Refusal]("PreFilterCoscheduling")


class Coscheduling:
    """Lets the pods of a group wait for each other, and gives up on all of them."""

    Args: ClassVar[type[CoschedulingArgs]] = CoschedulingArgs
    kinds: ClassVar[Sequence[type[ApiObject]]] = (PodGroup,)
    reads = OTHER_KINDS
    writes = (Write(Verb.PATCH, PodGroup, "status"),)
    blocks = False

    def __init__(self, args: CoschedulingArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._informers = handle.informers
        self._gangs = Gangs(handle)
        self._changes = ClusterChanges(handle)
        self._impasses = Impasses(handle, self._gangs, self._changes)
        # Group -> when it failed last, unless it has been complete since.
        self._failed_at: dict[str, float] = {}
        self._groups = handle.informers.changes(PodGroup)
        self._groups_revision = -1
        # Groups that are left alone for a while.
        self._backing_off: set[str] = set()
        # The uids of waiting pods that have been rejected with their group.
        self._rejected: set[str] = set()

    @property
    def failed_groups(self) -> Collection[str]:
        """The keys of the groups that have failed, and not been complete since."""
        return {*self._failed_at, *self._impasses.keys()}

    @hookimpl
    def start(self) -> None:
        period = self._args.pod_group_status_seconds
        if period:
            Statuses(self._handle, period).begin()

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float, str, str]:
        pod = queued.pod
        key = group_key(pod)
        return -pod.priority, self._since(key, queued), key or pod.key, pod.key

    def _since(self, key: str, queued: QueuedPodInfo) -> float:
        """Return when a pod's turn began: all members of a group have the same."""
        failed_at = self._failed_at.get(key)
        if failed_at is not None:
            return failed_at
        group = self._informers.get(PodGroup, key) if key else None
        if group is not None:
            created = group.metadata.creation_timestamp
            if created is not None:
                return created
        began = queued.initial_attempt_timestamp
        return queued.timestamp if began is None else began

    @hookimpl
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable
    ) -> Status | None:
        group = self._group_of(pod)
        if group is None:
            return None
        refused = self._refusal(group, pod, nodes)
        if refused is None:
            return None
        state[_REFUSAL], text = refused
        return Status.unresolvable(text)

    def _refusal(
        self, group: PodGroup, pod: Pod, nodes: NodeTable
    ) -> tuple[_Refusal, str] | None:
        """Return why a search for a node is useless, or None."""
        key, needed = group.key, group.spec.min_member
        if key in self._backing_off:
            return _Refusal.BACKOFF, f"podGroup {key} failed recently"
        ready, gated = self._gangs.counts(key)
        if ready + gated < needed:
            text = (
                f"pre-filter pod {pod.name} cannot find enough sibling pods, current "
                f"pods number: {ready + gated}, minMember of group: {needed}"
            )
            return _Refusal.MEMBERS, text
        if ready < needed:
            text = (
                f"pre-filter pod {pod.name} cannot proceed due to gated pods in the "
                "same PodGroup"
            )
            return _Refusal.MEMBERS, text
        gap = self._gap(group, nodes)
        if gap:
            return _Refusal.ROOM, f"resource gap: {gap}"
        if self._impasses.refuses(group, pod):
            text = "the pod group did not fit, and nothing has changed since"
            return _Refusal.IMPASSE, text
        return None

    def _gap(self, group: PodGroup, nodes: NodeTable) -> str:
        """Return what the cluster lacks of the group's minResources, or nothing."""
        wanted, key = group.spec.min_resources, group.key
        if wanted is None:
            return ""
        own = [
            *self._gangs.bound(key),
            *(waiting_pod.pod for waiting_pod in self._gangs.waiting(key)),
        ]
        gap = resource_gap(nodes, wanted, group.spec.min_member, own)
        return ", ".join(
            f"{name} {amount}{'m' if name == 'cpu' else ''}"
            for name, amount in sorted(gap.items())
        )

    @hookimpl
    def post_filter(self, state: CycleState, pod: Pod) -> Status:
        group = self._group_of(pod)
        if group is None:
            return Status.unschedulable("can not find pod group")
        refusal = state.get(_REFUSAL)
        waiting = self._gangs.waiting(group.key)
        assigned = self._gangs.assigned(group.key, waiting)
        if assigned >= group.spec.min_member or refusal is _Refusal.IMPASSE:
            return Status.unschedulable()
        if refusal in (None, _Refusal.ROOM):
            self._note_impasse(group, pod, waiting, is_room=refusal is not None)
        missing = (group.spec.min_member - assigned) / group.spec.min_member
        if missing <= self._args.pod_group_reject_percentage / 100:
            return Status.unschedulable()
        self._reject(group.key, waiting, "optimistic rejection in PostFilter")
        if sum(self._gangs.counts(group.key)) >= group.spec.min_member:
            self._back_off(group.key)
        return Status.unschedulable(
            f"PodGroup {group.key} gets rejected due to Pod {pod.name} is "
            "unschedulable even after PostFilter"
        )

    def _note_impasse(
        self, group: PodGroup, pod: Pod, waiting: Iterable[WaitingPod], *, is_room: bool
    ) -> None:
        """Note for which members there is no room.

        Args:
            group: The group.
            pod: The member that found no node.
            waiting: Those that have one.
            is_room: Whether it is minResources that are missing, for all of them.
        """
        placed = {waiting_pod.pod.uid for waiting_pod in waiting}
        pending = self._gangs.pending(group.key)
        unfit = [
            member
            for member in pending
            if member.uid not in placed and (is_room or _is_alike(member, pod))
        ]
        self._impasses.note(group, [pod, *unfit])

    @hookimpl
    def permit(self, state: CycleState, pod: Pod) -> PermitWait | Status | None:
        key = group_key(pod)
        if not key:
            return None
        group = self._informers.get(PodGroup, key)
        if group is None:
            return Status.unschedulable("PodGroup not found")
        self._gangs.take_back(key, pod)  # it may have passed before a reload
        if not self._gangs.is_complete(key, group.spec.min_member):
            if not self._gangs.any_waits(key):
                # The first to wait calls the others, which may sleep since they were
                # rejected with it.
                others = self._gangs.pending(key)
                state.pods_to_activate.extend(
                    other.key for other in others if other.uid != pod.uid
                )
            return PermitWait(self._wait_seconds(group))
        self._failed_at.pop(key, None)
        self._impasses.forget(key)
        self._gangs.let_pass(key, pod)
        name = self._handle.plugin_name
        for waiting_pod in self._gangs.waiting(key):
            # Those that have passed may still wait for another plugin.
            if name in waiting_pod.pending_plugins:
                self._gangs.let_pass(key, waiting_pod.pod)
                waiting_pod.allow(name)
        return None

    def _wait_seconds(self, group: PodGroup) -> int:
        own, general = (
            group.spec.schedule_timeout_seconds,
            self._args.permit_waiting_time_seconds,
        )
        if own is None:
            return general or _DEFAULT_WAIT_SECONDS
        return own or general

    @hookimpl
    def reserve(self) -> None:
        # All that there is to give back is noted by permit.
        return

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        key = group_key(pod)
        if self._gangs.take_back(key, pod) or not key:
            # It gives back room that others may have been refused for.
            self._changes.note()
        if pod.uid in self._rejected:
            self._rejected.discard(pod.uid)
        elif self._group_of(pod) is not None:
            self._reject(key, self._gangs.waiting(key), "rejection in Unreserve")

    def _reject(self, key: str, waiting: Iterable[WaitingPod], message: str) -> None:
        """Have all that wait in a group go back to the queue."""
        for waiting_pod in waiting:
            # Allowed members are gone when this rejection arrives.
            if not self._gangs.has_passed(key, waiting_pod.pod) and (
                waiting_pod.pod.uid not in self._rejected
            ):
                self._rejected.add(waiting_pod.pod.uid)
                waiting_pod.reject(self._handle.plugin_name, message)
        self._failed_at[key] = self._handle.clock.now()
        if self._groups.revision != self._groups_revision:
            self._groups_revision = self._groups.revision
            self._forget_deleted()

    def _forget_deleted(self) -> None:
        """Forget the failures of groups that are gone."""
        for key in self.failed_groups:
            if self._informers.get(PodGroup, key) is None:
                self._failed_at.pop(key, None)
                self._impasses.forget(key)

    def _back_off(self, key: str) -> None:
        seconds = self._args.pod_group_backoff_seconds
        if seconds and key not in self._backing_off:
            self._backing_off.add(key)
            self._handle.clock.call_later(seconds, partial(self._end_backoff, key))

    def _end_backoff(self, key: str) -> None:
        self._backing_off.discard(key)
        group = self._informers.get(PodGroup, key)
        if group is not None and self._impasses.is_over(group) is not False:
            self._handle.activate(self._gangs.pending(key))

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        more = Change.ADD | Change.UPDATE
        member = (
            Change.ADD
            | Change.UPDATE_POD_LABEL
            | Change.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        )
        return [
            EventsOf(PodGroup)(more, self._after_group_change),
            on_pod(member, self._after_member_change),
            on_pod(Change.DELETE | Change.UPDATE_POD_SCALE_DOWN, self._after_change),
            on_node(more, self._after_change),
            *(EventsOf(kind)(more, self._after_change) for kind in OTHER_KINDS),
        ]

    def _after_group_change(
        self, pod: Pod, old: PodGroup | None, new: PodGroup
    ) -> QueueingHint:
        if new.key != group_key(pod) or (old is not None and old.spec == new.spec):
            return QueueingHint.SKIP
        return QueueingHint.QUEUE

    def _after_member_change(self, pod: Pod, old: Pod | None, new: Pod) -> QueueingHint:
        if group_key(new) == group_key(pod):
            return QueueingHint.QUEUE
        return self._after_change(pod, old, new)

    def _after_change(
        self, pod: Pod, _old: ApiObject | None, _new: ApiObject | None
    ) -> QueueingHint:
        """Wake a pod of a group for which there was no room, once there may be some."""
        group = self._group_of(pod)
        if group is None or group.key in self._backing_off:
            return QueueingHint.SKIP
        is_over = self._impasses.is_over(group)
        if is_over or (is_over is None and group.spec.min_resources is not None):
            return QueueingHint.QUEUE
        return QueueingHint.SKIP

    def _group_of(self, pod: Pod) -> PodGroup | None:
        key = group_key(pod)
        return self._informers.get(PodGroup, key) if key else None


def _is_alike(pod: Pod, other: Pod) -> bool:
    """Whether filters probably treat two members as identical."""
    return pod.labels == other.labels and pod.spec == other.spec
