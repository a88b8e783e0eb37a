"""Plays the calls of tests to the scheduling queue, with the state after each."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from quaymaster import ApiObject, Node, NominatingInfo, NominatingMode
from quaymaster.config import Kubernetes
from quaymaster.scheduler import VirtualClock
from tests.kit.internals.engine import PodChanges
from tests.kit.internals.queue import (
    BackoffPolicy,
    Nominator,
    QueuedPod,
    QueueName,
    QueueRules,
    SchedulingQueue,
    Strategy,
    flush_backoff,
    flush_unschedulable,
    forget_hints,
    put,
    start_attempts,
    strategy_for,
    sub_queues_of,
)
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    difference,
    object_from,
)
from tests.upstream.events import event_from
from tests.upstream.queue_backoff import nanoseconds, play_backoff_call
from tests.upstream.queue_profiles import make_profiles, pre_check_of, rejectors_of
from tests.upstream.queue_states import (
    QUEUES,
    ROUNDING,
    PodsOfCase,
    Times,
    queue_view,
    record_from,
)

__all__ = ["QueuePlayer", "play"]

_TIE: Final = "upstream does not order pods of equal priority and time"
_AT_LIMIT: Final = (
    "the test passes a limit by less than a millisecond, which the record rounds off"
)
_STRATEGIES: Final[Mapping[Strategy, int]] = {
    Strategy.SKIP: 0,
    Strategy.AFTER_BACKOFF: 1,
    Strategy.IMMEDIATELY: 2,
}


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case of the package queue.

    Raises:
        CallNotPlayedError: The case depends on a gate that cannot be simulated.
    """
    player = QueuePlayer(case, case.kubernetes())
    return [player.play(number) for number in range(len(case.calls))]


class QueuePlayer:
    """A queue, which begins each call in the recorded state.

    Args:
        case: The case.
        kubernetes: The version and the gates of the queue.
    """

    make_queue: ClassVar[type[SchedulingQueue]] = SchedulingQueue

    def __init__(self, case: RecordedCase, kubernetes: Kubernetes) -> None:
        self._case = case
        self._kubernetes = kubernetes
        self._times = Times(case)
        self._pods = PodsOfCase.of(case)
        self._gates: dict[str, Json] = {}
        self._max_age = 0.0
        self._clock = VirtualClock(self._times.start)
        self._queue: SchedulingQueue | None = None
        self._profiles: Json = {}
        self._recorded: Json = {}
        self._last: Json = {}

    def play(self, number: int) -> Json | str:
        call = self._case.calls[number]
        receiver, _, name = call["call"].partition(".")
        try:
            if receiver == "backoffQueue":
                return play_backoff_call(call)
            if receiver == "nominator":
                return self._nominator_call(call)
            self._last = call.get("before") or self._recorded
            self._recorded = self._case.answers[number].get("after", {})
            self._begin(self._last)
            results = self.results_of(name, call, number)
        except CallNotPlayedError as error:
            return str(error)
        view = self.view_of(self.queue)
        if not self._recorded:
            self._recorded = {**self._last, **view}
        return {"results": results, "after": view}

    def results_of(self, name: str, call: Json, number: int) -> Sequence[object]:
        if name not in _PLAYS:
            text = _NOT_PLAYED.get(name, f"{call['call']} has no counterpart here")
            raise CallNotPlayedError(text)
        return _PLAYS[name](self, call, number)

    @property
    def queue(self) -> SchedulingQueue:
        """The queue."""
        assert self._queue is not None, "calls are made while there is one"
        return self._queue

    # States -------------------------------------------------------------------------

    def _begin(self, state: Json) -> None:
        """Set the time; replace the queue if ours is in another state.

        Tests change the state of their queue between calls, too.
        """
        now = self._times.start + state["now"]
        self._clock.advance(max(0.0, now - self._clock.now()))
        self._gates.clear()
        self._gates.update(state.get("preEnqueue") or {})
        if self._queue is not None and self._profiles == _profiles_of(state):
            view = self.view_of(self._queue)
            if not difference({"state": state}, {"state": view}):
                return
        if state["inFlightEvents"]:
            raise CallNotPlayedError("the record lacks the events during attempts")
        self._queue = self.make(state)

    def view_of(self, queue: SchedulingQueue) -> Json:
        """Return the state of our queue, as records have it."""
        return queue_view(queue, self._pods, self._times)

    def put(self, queue: SchedulingQueue, entity: Json, where: QueueName) -> None:
        """Put a recorded pod into our queue."""
        put(queue, record_from(entity, self._pods, self._times), where)

    def make(self, state: Json) -> SchedulingQueue:
        self._profiles = _profiles_of(state)
        self._max_age = _seconds(state["maxInUnschedulable"])
        queue = self.make_queue(
            clock=self._clock,
            profiles=make_profiles(state, self._gates),
            nominator=Nominator(self._pods.lookup),
            backoff=BackoffPolicy(
                initial_seconds=_seconds(state["initialBackoff"]),
                max_seconds=_seconds(state["maxBackoff"]),
            ),
            max_in_unschedulable_seconds=self._max_age,
            rules=QueueRules.of(self._kubernetes),
        )
        if not state.get("hints"):
            forget_hints(queue)
        for name, where in QUEUES.items():
            for entity in state.get(name) or ():
                self.put(queue, entity, where)
        start_attempts(queue, map(self._pods.uid, state["inFlight"]))
        for node, keys in (state.get("nominated") or {}).items():
            for key in keys:
                info = NominatingInfo(node, NominatingMode.OVERRIDE)
                queue.nominator.add(self._pods.by_key(key), info)
        return queue

    # Calls --------------------------------------------------------------------------

    def add(self, call: Json, _number: int) -> Sequence[object]:
        self.queue.add(self._pods.pod(call["in"][1]))
        return []

    def pop(self, _call: Json, _number: int) -> Sequence[object]:
        ranks = Counter(
            (queued.pod.priority, queued.timestamp) for queued in self.queue.active()
        )
        if ranks and ranks[max(ranks, key=lambda rank: (rank[0], -rank[1]))] > 1:
            raise CallNotPlayedError(_TIE)
        queued = self.queue.pop()
        if queued is None:  # upstream waits for a pod, until the queue is closed
            return [None, None]
        self._pods.records[queued.key] = queued
        return [self._pods.index(queued.pod), None]

    def new_record(self, call: Json, _number: int) -> Sequence[object]:
        _, argument, plugins = call["in"]
        pod = self._pods.pod(argument)
        self._pods.records[pod.key] = QueuedPod(
            pod,
            self._clock.now(),
            pod.key,
            unschedulable_plugins=frozenset(plugins or ()),
        )
        return [argument]

    def add_unschedulable(self, call: Json, number: int) -> Sequence[object]:
        pod = self._pods.pod(call["in"][1])
        queued = self._pods.records.get(pod.key)
        if queued is None:
            queued = QueuedPod(pod, self._clock.now(), pod.key)
        queued.pod = pod
        self._complete(queued, number)
        self.queue.add_unschedulable(queued)
        return [None]

    def _complete(self, queued: QueuedPod, number: int) -> None:
        """Set what a test has written into a record since it was popped or made.

        Only the state afterwards shows it. What the queue itself changes comes from
        ours: the count of the failure, the times, and the queue that it enters.
        """
        entity = self._entity_after(queued.key, number)
        if entity is None:
            return
        queued.unschedulable_plugins = frozenset(entity.get("unschedulablePlugins", ()))
        queued.pending_plugins = frozenset(entity.get("pendingPlugins", ()))
        gate = entity.get("gatingPlugin", "")
        if queued.rejectors != {gate}:
            queued.unschedulable_plugins -= {gate}
        else:
            queued.gating_plugin = gate
        queued.attempts = entity["attempts"]
        queued.unschedulable_count = entity["unschedulableCount"] - bool(
            queued.rejectors
        )
        if entity not in self._case.answers[number]["after"]["active"]:
            start = self._times.absolute(entity.get("initialAttempt"))
            queued.initial_attempt_timestamp = start

    def _entity_after(self, key: str, number: int) -> Json | None:
        after = self._case.answers[number].get("after")
        if after is None:
            text = "the record lacks what the test writes into the pod's record"
            raise CallNotPlayedError(text)
        entities = (entity for name in QUEUES for entity in after.get(name) or ())
        pods = (pod for entity in entities for pod in entity.get("pods", (entity,)))
        return next((pod for pod in pods if pod["pod"] == key), None)

    def update(self, call: Json, _number: int) -> Sequence[object]:
        old, new = map(self._pods.pod, call["in"][1:3])
        changes = PodChanges(self._kubernetes).of(old, new)
        self.queue.update(old, new, changes)
        return []

    def delete(self, call: Json, _number: int) -> Sequence[object]:
        self.queue.delete(self._pods.pod(call["in"][1]))
        return []

    def activate(self, call: Json, _number: int) -> Sequence[object]:
        self.queue.activate(map(self._pods.pod, call["in"][1].values()))
        return []

    def move_all(self, call: Json, _number: int) -> Sequence[object]:
        _, event, old, new, _ = call["in"]
        if "SchedulerPreQueueingHints" in self._case.tree.get("gates", ()):
            raise CallNotPlayedError("the record lacks the pre-queueing hints")
        check = pre_check_of(self._case.tree["test"])
        objects = (self._object(old), self._object(new))
        self.queue.move_all(event_from(event), *objects, pre_check=check)
        return []

    def strategy(self, call: Json, _number: int) -> Sequence[object]:
        _, argument, event, old, new, _ = call["in"]
        rejectors = rejectors_of(self._case.tree["test"])
        if rejectors is None:
            raise CallNotPlayedError("the record lacks what rejected the pod")
        pod = self._pods.pod(argument)
        queued = QueuedPod(pod, self._clock.now(), pod.key)
        queued.unschedulable_plugins, queued.pending_plugins = map(frozenset, rejectors)
        objects = (self._object(old), self._object(new))
        strategy = strategy_for(self.queue, queued, event_from(event), *objects)
        return [_STRATEGIES[strategy]]

    def _object(self, tree: Json | None) -> ApiObject | None:
        if tree is None:
            return None
        if "Node" in tree:
            return object_from(tree["Node"], Node)
        return self._pods.pod(tree)

    def flush_backoff(self, _call: Json, _number: int) -> Sequence[object]:
        flush_backoff(self.queue)
        return []

    def flush_unschedulable(self, _call: Json, _number: int) -> Sequence[object]:
        limit = self._clock.now() - self._max_age
        stamps = [queued.timestamp for queued in self.queue.unschedulable()]
        if any(abs(stamp - limit) < ROUNDING for stamp in stamps):
            raise CallNotPlayedError(_AT_LIMIT)
        flush_unschedulable(self.queue, limit)
        return []

    def move_to_active(self, call: Json, _number: int) -> Sequence[object]:
        _, argument, label, from_backoff, _ = call["in"]
        queued = self._pods.records[self._pods.pod(argument).key]
        queues = sub_queues_of(self.queue)
        return [queues.to_active(queued, label, from_backoff=from_backoff)]

    def nominate(self, call: Json, _number: int) -> Sequence[object]:
        _, argument, tree = call["in"]
        info = None
        if tree is not None:
            mode = NominatingMode.OVERRIDE if tree["NominatingMode"] else None
            info = NominatingInfo(
                tree["NominatedNodeName"], mode or NominatingMode.NOOP
            )
        self.queue.nominator.add(self._pods.pod(argument), info)
        return []

    def nominated_to(self, call: Json, _number: int) -> Sequence[object]:
        (node,) = call["in"]
        pods = self.queue.nominator.pods_on(node)
        return [[self._pods.index(pod) for pod in pods]]

    def pending(self, _call: Json, _number: int) -> Sequence[object]:
        queue, lengths = self.queue, self.queue.lengths()
        records = [
            *queue.active(),
            *queue.backing_off(),
            *queue.backing_off_after_error(),
            *queue.unschedulable(),
        ]
        summary = (
            f"activeQ:{lengths.active}; backoffQ:{lengths.backoff}; "
            f"unschedulableEntities:{lengths.unschedulable}"
        )
        return [[self._pods.index(queued.pod) for queued in records], summary]

    def _nominator_call(self, call: Json) -> Json:
        name = call["call"].partition(".")[2]
        if self._queue is None or name != "DeleteNominatedPodIfExists":
            raise CallNotPlayedError(f"{call['call']} has no counterpart here")
        self._queue.nominator.delete(self._pods.pod(call["in"][0]))
        return {"results": []}


def _profiles_of(state: Json) -> Json:
    """Return the part of a state that no call changes."""
    plugins: Json = state.get("preEnqueue") or {}
    gates = {name: sorted(map(str, listed)) for name, listed in plugins.items()}
    return {"hints": state.get("hints"), "gates": gates}


def _seconds(text: str) -> float:
    return nanoseconds(text) / 1e9


_NOT_PLAYED: Final[Mapping[str, str]] = {
    "moveToBackoffQ": "the test moves a pod that has not failed, which no queue does",
}

_PLAYS: Final[Mapping[str, Callable[[QueuePlayer, Json, int], Sequence[object]]]] = {
    "Activate": QueuePlayer.activate,
    "Add": QueuePlayer.add,
    "AddNominatedPod": QueuePlayer.nominate,
    "AddUnschedulablePodIfNotPresent": QueuePlayer.add_unschedulable,
    "Delete": QueuePlayer.delete,
    "MoveAllToActiveOrBackoffQueue": QueuePlayer.move_all,
    "NominatedPodsForNode": QueuePlayer.nominated_to,
    "PendingPods": QueuePlayer.pending,
    "Pop": QueuePlayer.pop,
    "Update": QueuePlayer.update,
    "flushBackoffQCompleted": QueuePlayer.flush_backoff,
    "flushUnschedulableEntitiesLeftover": QueuePlayer.flush_unschedulable,
    "isPodWorthRequeuing": QueuePlayer.strategy,
    "moveToActiveQ": QueuePlayer.move_to_active,
    "newQueuedPodInfo": QueuePlayer.new_record,
}
