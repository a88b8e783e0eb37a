"""States of a recorded queue: makes ours equal to one, and writes ours in its form."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster import Pod
from quaymaster.objects import ObjectMeta, PodSpec
from tests.kit.internals.queue import (
    QueuedGroup,
    QueuedPod,
    QueueName,
    SchedulingQueue,
)
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    object_from,
)

__all__ = [
    "GROUP",
    "QUEUES",
    "ROUNDING",
    "PodsOfCase",
    "Times",
    "pod_entity",
    "queue_view",
    "record_from",
]

QUEUES: Final[Mapping[str, QueueName]] = {
    "active": QueueName.ACTIVE,
    "backoff": QueueName.BACKOFF,
    "errorBackoff": QueueName.ERROR_BACKOFF,
    "unschedulable": QueueName.UNSCHEDULABLE,
}
"""Name in a record -> the queue."""

GROUP: Final = "a group of pods: the gate GenericWorkload"

ROUNDING: Final = 0.0015
"""Seconds by which the difference of two recorded times may be wrong."""

_START: Final = 1_767_225_600  # 2026-01-01T00:00:00Z


class Times:
    """Converts the times of a record, which count from the first call.

    Backoffs end with whole seconds of the clock, so that the end of any backoff shows
    which part of a second had passed at the first call.

    Args:
        case: The case.
    """

    def __init__(self, case: RecordedCase) -> None:
        ends = [
            entity["backoffExpiration"]
            for state in _states(case)
            for entity in _entities(state)
            if "backoffExpiration" in entity
        ]
        part = -ends[0] % 1.0 if ends else 0.0
        self.start = _START + round(part, 3)
        self.are_compared = case.tree.get("clock") == "fake"

    def absolute(self, seconds: float | None) -> float | None:
        """Return a recorded time as seconds since the Unix epoch."""
        return None if seconds is None else self.start + seconds

    def relative(self, seconds: float) -> float:
        """Return a time as records have it."""
        return round(seconds - self.start, 3)


@attrs.define
class PodsOfCase:
    """The pods of a case, and their records in the queue by key.

    Attributes:
        pods: The pods that calls name by index.
        trees: The same, as recorded.
        nominated: The keys of the pods that the nominator finds in the informers.
        records: The newest record of each pod that was popped or made.
        newest: The newest version of each pod that a call has named.
    """

    pods: Sequence[Pod]
    trees: Sequence[Json]
    nominated: frozenset[str]
    records: dict[str, QueuedPod] = attrs.field(factory=dict)
    newest: dict[str, Pod] = attrs.field(factory=dict)

    @classmethod
    def of(cls, case: RecordedCase) -> "PodsOfCase":
        """Read the pods of a case.

        The informers of a test are not in its record. They have a pod if the test's
        queue nominates it at any time.
        """
        trees = case.tree.get("pods", ())
        return cls(
            [_pod(tree) for tree in trees],
            trees,
            frozenset(
                key
                for state in _states(case)
                for keys in (state.get("nominated") or {}).values()
                for key in keys
            ),
        )

    def pod(self, argument: Json) -> Pod:
        """Return the pod of an argument ``{"pod": index}``."""
        if "pod" not in argument:
            raise CallNotPlayedError(GROUP)
        pod = self.pods[argument["pod"]]
        self.newest[pod.key] = pod
        return pod

    def index(self, pod: Pod) -> Json:
        """Return the argument for a pod."""
        # Identity: versions of a pod may be equal.
        indexes = [index for index, other in enumerate(self.pods) if other is pod]
        return {"pod": indexes[0]} if indexes else {}

    def by_key(self, key: str) -> Pod:
        """Return the newest version of a pod; one without fields if calls have none."""
        if key in self.newest:
            return self.newest[key]
        namespace, _, name = key.partition("/")
        versions = [pod for pod in self.pods if pod.key == key]
        bare = Pod(
            metadata=ObjectMeta(namespace=namespace, name=name, uid=key),
            spec=PodSpec(scheduler_name=""),
        )
        return versions[0] if versions else bare

    def lookup(self, key: str) -> Pod | None:
        """Return a pod that the nominator finds in the informers."""
        return self.by_key(key) if key in self.nominated else None

    def recorded_uid(self, uid: str) -> str:
        """Return a uid as in the record: there, a pod may have none."""
        for pod, tree in zip(self.pods, self.trees, strict=True):
            if pod.uid == uid:
                return str(tree.get("metadata", {}).get("uid", ""))
        return uid

    def uid(self, recorded: str) -> str:
        """Return the uid of the pod that has this uid in the record."""
        for pod, tree in zip(self.pods, self.trees, strict=True):
            if tree.get("metadata", {}).get("uid", "") == recorded:
                return pod.uid
        return recorded


def _pod(tree: Json) -> Pod:
    spec = {"schedulerName": "", **(tree.get("spec") or {})}
    return object_from({**tree, "spec": spec}, Pod)


def _states(case: RecordedCase) -> Iterable[Json]:
    for call, answer in zip(case.calls, case.answers, strict=True):
        for state in (call.get("before"), answer.get("after")):
            if state is not None:
                yield state


def _entities(state: Json) -> Iterable[Json]:
    for name in QUEUES:
        yield from state.get(name) or ()


def record_from(entity: Json, pods: PodsOfCase, times: Times) -> QueuedPod:
    """Make the queue's record of a pod from a recorded one.

    Raises:
        CallNotPlayedError: It is the record of a group.
    """
    if "pod" not in entity:
        raise CallNotPlayedError(GROUP)
    end = times.absolute(entity.get("backoffExpiration"))
    return QueuedPod(
        pod=pods.by_key(entity["pod"]),
        key=entity["pod"],
        timestamp=times.start + entity.get("timestamp", -math.inf),
        initial_attempt_timestamp=times.absolute(entity.get("initialAttempt")),
        attempts=entity["attempts"],
        unschedulable_count=entity["unschedulableCount"],
        consecutive_errors_count=entity["consecutiveErrors"],
        unschedulable_plugins=frozenset(entity.get("unschedulablePlugins") or ()),
        pending_plugins=frozenset(entity.get("pendingPlugins") or ()),
        gating_plugin=entity.get("gatingPlugin", ""),
        backoff_expiration=None if end is None else float(round(end)),
    )


def queue_view(queue: SchedulingQueue, pods: PodsOfCase, times: Times) -> Json:
    """Write the state of a queue; without times if they are not compared."""
    contents = {
        "active": queue.active(),
        "backoff": queue.backing_off(),
        "errorBackoff": queue.backing_off_after_error(),
        "unschedulable": queue.unschedulable(),
    }
    return {
        **{
            name: [
                pod_entity(queued, times)
                for queued in sorted(entities, key=lambda q: q.key)
            ]
            for name, entities in contents.items()
        },
        "inFlight": sorted(map(pods.recorded_uid, queue.in_flight)),
        "inFlightEvents": queue.in_flight_event_count,
        "nominated": {
            node: [pod.key for pod in nominated]
            for node, nominated in queue.nominator.by_node().items()
        },
    }


def pod_entity(queued: QueuedPod | QueuedGroup, times: Times) -> Json:
    """Write the record of a pod or a group; without times if they are not compared."""
    entity: Json = {
        "pod": queued.key,
        "attempts": queued.attempts,
        "unschedulableCount": queued.unschedulable_count,
        "consecutiveErrors": queued.consecutive_errors_count,
        "unschedulablePlugins": sorted(queued.unschedulable_plugins),
        "pendingPlugins": sorted(queued.pending_plugins),
        "gatingPlugin": queued.gating_plugin,
    }
    if times.are_compared:
        moments = {
            "timestamp": queued.timestamp,
            "initialAttempt": queued.initial_attempt_timestamp,
            "backoffExpiration": queued.backoff_expiration,
        }
        for name, moment in moments.items():
            if moment is not None:
                # A moment that the record lacks is Go's zero time.
                entity[name] = times.relative(moment) if moment > 0 else None
    return entity
