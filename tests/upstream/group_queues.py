"""Plays the calls of tests to a scheduling queue with groups of pods."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

import attrs

from quaymaster import Code, Status
from quaymaster.config import Kubernetes
from quaymaster.objects import PodGroup
from tests.kit.internals.groups import kubernetes_with_groups
from tests.kit.internals.queue import (
    GroupQueue,
    QueuedGroup,
    QueuedPod,
    QueueName,
    SchedulingQueue,
    flush_gated,
    flush_groups,
    put_group,
    put_pending,
    queued_groups,
    take_over,
)
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    object_from,
)
from tests.upstream.queue_states import QUEUES, pod_entity, queue_view, record_from
from tests.upstream.queues import QueuePlayer
from tests.upstream.queues import play as play_without_groups

__all__ = ["play"]

_GATE: Final = "GenericWorkload"
_COMPOSITES: Final = "groups of groups: the gate CompositePodGroup"
_WRITTEN: Final = "the test moves a group to a place that no scheduler moves it to"
_UNREJECTED: Final = "a pod waits for events that no plugin has rejected"
_NO_OBJECT: Final = "the record lacks the object of a group"
_POPPED_TWICE: Final = "the test pops a group whose pods are all in flight"
_ROUNDED: Final = "pods of a group are ordered by times that the record rounds off"


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case of the package queue, with groups if its gates have them.

    Raises:
        CallNotPlayedError: The case depends on a gate that cannot be simulated.
    """
    if not case.tree.get("gates", {}).get(_GATE):
        return play_without_groups(case)
    player = _GroupPlayer(case, _kubernetes(case))
    return [player.play(number) for number in range(len(case.calls))]


def _kubernetes(case: RecordedCase) -> Kubernetes:
    gates = {**case.tree["gates"]}
    if gates.get("CompositePodGroup"):
        raise CallNotPlayedError(_COMPOSITES)
    del gates[_GATE]
    tree = {**case.tree, "gates": gates}
    others = attrs.evolve(case, tree=tree).kubernetes()
    return kubernetes_with_groups(**others.feature_gates)


class _GroupPlayer(QueuePlayer):
    """A queue with groups, which begins each call in the recorded state."""

    make_queue: ClassVar[type[SchedulingQueue]] = GroupQueue

    def __init__(self, case: RecordedCase, kubernetes: Kubernetes) -> None:
        super().__init__(case, kubernetes)
        self._objects: dict[str, PodGroup] = {}

    @property
    def groups(self) -> GroupQueue:
        """The queue."""
        assert isinstance(self.queue, GroupQueue)
        return self.queue

    def results_of(self, name: str, call: Json, number: int) -> Sequence[object]:
        if name in _PLAYS:
            return _PLAYS[name](self, call, number)
        return super().results_of(name, call, number)

    # States -------------------------------------------------------------------------

    def make(self, state: Json) -> SchedulingQueue:
        older = self._queue
        queue = super().make(state)
        if isinstance(older, GroupQueue) and isinstance(queue, GroupQueue):
            take_over(queue, older)
        return queue

    def put(self, queue: SchedulingQueue, entity: Json, where: QueueName) -> None:
        if "group" not in entity:
            if where is QueueName.UNSCHEDULABLE and not entity.get(
                "unschedulablePlugins"
            ):
                raise CallNotPlayedError(_UNREJECTED)
            super().put(queue, entity, where)
            return
        assert isinstance(queue, GroupQueue)
        if where is QueueName.BACKOFF or entity.get("unschedulablePlugins"):
            raise CallNotPlayedError(_WRITTEN)
        pods = [self._record(pod) for pod in entity["pods"]]
        put_group(queue, self._group_from(entity, pods), where)

    def _record(self, entity: Json) -> QueuedPod:
        return record_from(entity, self._pods, self._times)

    def _group_from(self, entity: Json, pods: Sequence[QueuedPod]) -> QueuedGroup:
        end = self._times.absolute(entity.get("backoffExpiration"))
        key = entity["group"]
        if key not in self._objects:
            raise CallNotPlayedError(_NO_OBJECT)
        return QueuedGroup(
            group=self._objects[key],
            key=f"podgroup/{key}",
            pods=list(pods),
            timestamp=self._times.start + entity.get("timestamp", -math.inf),
            initial_attempt_timestamp=self._times.absolute(
                entity.get("initialAttempt")
            ),
            attempts=entity["attempts"],
            unschedulable_count=entity["unschedulableCount"],
            consecutive_errors_count=entity["consecutiveErrors"],
            gating_plugin=entity.get("gatingPlugin", ""),
            backoff_expiration=None if end is None else float(round(end)),
        )

    def view_of(self, queue: SchedulingQueue) -> Json:
        assert isinstance(queue, GroupQueue)
        view = queue_view(queue, self._pods, self._times)
        for name, where in QUEUES.items():
            pods = [entity for entity in view[name] if not self._is_member(entity)]
            groups = [group for group in queued_groups(queue) if group.queue is where]
            groups.sort(key=lambda group: group.key)
            view[name] = [*pods, *map(self._group_entity, groups)]
        return view

    def _is_member(self, entity: Json) -> bool:
        return bool(self._pods.by_key(entity["pod"]).group_key)

    def _group_entity(self, group: QueuedGroup) -> Json:
        entity = pod_entity(group, self._times)
        pods = [pod_entity(queued, self._times) for queued in group.pods]
        del entity["pod"]
        return {**entity, "group": group.group_key, "pods": pods}

    # Calls --------------------------------------------------------------------------

    def add_group(self, call: Json, _number: int) -> Sequence[object]:
        group = self._object_of(call)
        self._objects[group.key] = group
        self.groups.add_group(group)
        return []

    def update_group(self, call: Json, _number: int) -> Sequence[object]:
        group = self._object_of(call)
        self._objects[group.key] = group
        self.groups.update_group(group)
        return []

    def delete_group(self, call: Json, _number: int) -> Sequence[object]:
        self.groups.delete_group(self._object_of(call))
        return []

    def _object_of(self, call: Json) -> PodGroup:
        return object_from(call["in"][1]["PodGroup"], PodGroup)

    def pop(self, call: Json, number: int) -> Sequence[object]:
        if not isinstance(self.groups.peek(), QueuedGroup):
            return super().pop(call, number)
        group = self.groups.pop()
        if not isinstance(group, QueuedGroup):
            raise CallNotPlayedError(_POPPED_TWICE)
        for queued in group.pods:
            self._pods.records[queued.key] = queued
        entity = self._group_entity(group)
        for tree, queued in zip(entity["pods"], group.pods, strict=True):
            del tree["pod"]
            tree["is"] = self._pods.index(queued.pod)
        return [{"queued": entity}, None]

    def add_attempted(self, call: Json, number: int) -> Sequence[object]:
        _, argument, _, status = call["in"]
        tree = argument["queued"]
        pods = []
        for member in tree["pods"]:
            pod = self._pods.pod(member["is"])
            queued = self._pods.records.get(pod.key)
            pods.append(queued or self._record({**member, "pod": pod.key}))
        group = self._group_from(tree, pods)
        self._write_pending(group.group_key, number)
        self.groups.add_attempted_group(group, (), _status(status))
        return [None]

    def _write_pending(self, group_key: str, number: int) -> None:
        """Set what a test has written into the pods that wait for their group.

        They are in no recorded state; only the state afterwards shows them.
        """
        after = self._case.answers[number]["after"]
        entities = (entity for name in QUEUES for entity in after.get(name) or ())
        members = (
            member
            for entity in entities
            if entity.get("group") == group_key
            for member in entity["pods"]
        )
        pending = {queued.key: queued for queued in self.groups.pending()}
        for member in members:
            queued = pending.get(member["pod"])
            if queued is None:
                queued = self._record(member)
                put_pending(self.groups, queued)
            gates = frozenset({member.get("gatingPlugin", "")})
            plugins = frozenset(member.get("unschedulablePlugins") or ())
            queued.unschedulable_plugins = plugins - gates
            queued.pending_plugins = frozenset(member.get("pendingPlugins") or ())
            queued.attempts = member["attempts"]
            start = self._times.absolute(member.get("initialAttempt"))
            queued.initial_attempt_timestamp = start

    def add_unschedulable(self, call: Json, number: int) -> Sequence[object]:
        results = super().add_unschedulable(call, number)
        if not self._times.are_compared:
            for group in queued_groups(self.groups):
                places = Counter((q.pod.priority, q.attempts) for q in group.pods)
                if max(places.values()) > 1:
                    raise CallNotPlayedError(_ROUNDED)
        return results

    def flush_backoff(self, call: Json, number: int) -> Sequence[object]:
        flush_groups(self.groups)
        return super().flush_backoff(call, number)

    def flush_unschedulable(self, call: Json, number: int) -> Sequence[object]:
        results = super().flush_unschedulable(call, number)
        flush_gated(self.groups, self._clock.now() - self._max_age)
        return results


def _status(argument: Json | None) -> Status | None:
    label = "Success" if argument is None else argument["status"]["code"]
    if label == "Success":
        return None
    return Status(next(code for code in Code if code.label == label))


_PLAYS: Final[Mapping[str, Callable[[_GroupPlayer, Json, int], Sequence[object]]]] = {
    "AddAttemptedPodGroupIfNeeded": _GroupPlayer.add_attempted,
    "AddPodGroup": _GroupPlayer.add_group,
    "AddUnschedulablePodIfNotPresent": _GroupPlayer.add_unschedulable,
    "DeletePodGroup": _GroupPlayer.delete_group,
    "Pop": _GroupPlayer.pop,
    "UpdatePodGroup": _GroupPlayer.update_group,
    "flushBackoffQCompleted": _GroupPlayer.flush_backoff,
    "flushUnschedulableEntitiesLeftover": _GroupPlayer.flush_unschedulable,
}
