"""The rules of upstream's scheduling queue, by number, one test or more for each.

The recorded traces in ``tests/queue`` hold the same rules in all their combinations.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import attrs
import pytest
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    NominatingInfo,
    NominatingMode,
    Pod,
    QueuedPodInfo,
    QueueingHint,
    Snapshot,
    Status,
)
from quaymaster.hookspecs import QueueingHintFn
from quaymaster.objects import PodResourceClaimStatus, PodSchedulingGate
from quaymaster.scheduler import Failure, FailureKind, QueueName, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.engine import EventHandlers, FailureHandler, Progress
from tests.kit.internals.queue import (
    ASSIGNED_POD_ADD,
    FORCE_ACTIVATE,
    NODE_ADD,
    UNSCHEDULABLE_TIMEOUT,
    BackoffPolicy,
    Nominator,
    QueuedPod,
    QueueProfile,
    SchedulingQueue,
)
from tests.kit.internals.state import Cache

START = 1_767_225_600.0  # a whole second

ACTIVE = QueueName.ACTIVE
BACKOFF = QueueName.BACKOFF
ERROR_BACKOFF = QueueName.ERROR_BACKOFF
UNSCHEDULABLE = QueueName.UNSCHEDULABLE

CLEAR = NominatingInfo("", NominatingMode.OVERRIDE)
NODE = make_node(name="n1")


def on(
    resource: EventResource, action: ActionType, hint: QueueingHintFn | None = None
) -> ClusterEventWithHint:
    return ClusterEventWithHint(ClusterEvent(resource, action), hint)


def always(answer: QueueingHint) -> QueueingHintFn:
    return lambda _pod, _old, _new: answer


NODE_ADDED = on(EventResource.NODE, ActionType.ADD)
NODE_ADDED_SKIP = on(EventResource.NODE, ActionType.ADD, always(QueueingHint.SKIP))

PodNames = Sequence[str]


@attrs.define(eq=False)
class Gate:
    """A PreEnqueue plugin that holds back the pods of some names, and counts calls."""

    blocked: set[str] = attrs.field(factory=set)
    asked: list[str] = attrs.field(factory=list)

    def __call__(self, pod: Pod) -> Status | None:
        self.asked.append(pod.name)
        return Status.unschedulable() if pod.name in self.blocked else None


class Rig:
    """A queue with the cluster's objects and the scheduler's hands around it."""

    def __init__(
        self,
        *,
        events: Mapping[str, Sequence[ClusterEventWithHint] | None] | None = None,
        gates: Mapping[str, Callable[[Pod], Status | None]] | None = None,
        initial: float = 1.0,
        longest: float = 10.0,
        limit: float = 300.0,
        flush_gated: bool = False,
        start: float = START,
    ) -> None:
        self.clock = VirtualClock(start)
        self.stored: dict[str, Pod] = {}
        self.versions = 0
        profile = QueueProfile(
            sort_key=_by_priority,
            pre_enqueue=tuple((gates or {}).items()),
            events={"A": [NODE_ADDED], "B": [NODE_ADDED]} if events is None else events,
        )
        self.queue = SchedulingQueue(
            clock=self.clock,
            profiles={"default-scheduler": profile},
            nominator=Nominator(self.stored.get),
            backoff=BackoffPolicy(initial_seconds=initial, max_seconds=longest),
            max_in_unschedulable_seconds=limit,
            flush_gated_pods=flush_gated,
        )
        self.queue.start()
        self.cache = Cache(Snapshot())
        self.handlers = EventHandlers(
            cache=self.cache,
            queue=self.queue,
            scheduler_names={"default-scheduler"},
            reject_waiting=lambda _uid: False,
            progress=Progress(self.clock),
        )
        self.failures = FailureHandler(
            clock=self.clock,
            queue=self.queue,
            cache=self.cache,
            lookup=self.stored.get,
            patch_status=lambda _pod, _patch: None,
            record=lambda _note: None,
        )

    def add(
        self,
        name: str,
        *,
        priority: int = 0,
        nominated: str = "",
        uid: str | None = None,
    ) -> Pod:
        pod = make_pod(name=name, priority=priority, nominated_node=nominated, uid=uid)
        return self.store(pod)

    def store(self, pod: Pod) -> Pod:
        """The cluster has a new pod, or a new version of one."""
        self.versions += 1
        metadata = replace(pod.metadata, resource_version=str(self.versions))
        pod = replace(pod, metadata=metadata)
        old = self.stored.get(pod.key)
        self.stored[pod.key] = pod
        self.handlers.changed(Pod, old, pod)
        return pod

    def relabel(self, name: str) -> Pod:
        """The most harmless change of a pod that has an event of its own."""
        pod = self.stored[f"default/{name}"]
        labels = {"version": str(self.versions)}
        return self.store(replace(pod, metadata=replace(pod.metadata, labels=labels)))

    def pop(self) -> QueuedPod:
        queued = self.queue.pop()
        assert queued is not None
        return queued

    def reject(
        self,
        queued: QueuedPod,
        *plugins: str,
        pending: Sequence[str] = (),
        nominating: NominatingInfo | None = None,
    ) -> None:
        failure = Failure(
            kind=FailureKind.REJECTED,
            message="no",
            unschedulable_plugins=frozenset({*plugins, *pending}),
            pending_plugins=frozenset(pending),
            nominating=nominating,
        )
        self.failures.attempt_failed(queued, failure)

    def error(self, queued: QueuedPod, kind: FailureKind = FailureKind.ERROR) -> None:
        self.failures.attempt_failed(queued, Failure(kind=kind, message="oh"))

    def add_rejected(self, name: str, *plugins: str, priority: int = 0) -> QueuedPod:
        """A pod that was tried once, and rejected by plugins."""
        self.add(name, priority=priority)
        queued = self.pop()
        assert queued.pod.name == name
        self.reject(queued, *(plugins or ("A",)))
        return queued

    def where(self, name: str) -> QueueName | None:
        queued = self.queue.get(f"default/{name}")
        return None if queued is None else queued.queue

    def nominated(self, node: str) -> PodNames:
        return [pod.name for pod in self.queue.nominator.pods_on(node)]

    def incoming(self) -> Mapping[str, int]:
        """Queue and label of the cause -> how many pods came since the last call."""
        counts = {"|".join(key): n for key, n in self.queue.incoming.items()}
        self.queue.incoming.clear()
        return counts


def _by_priority(queued: QueuedPodInfo) -> tuple[int, float]:
    return -queued.pod.priority, queued.timestamp


def names(pods: Sequence[QueuedPod]) -> PodNames:
    return [queued.pod.name for queued in pods]


# Backoff


@pytest.mark.parametrize(
    ("errors", "rejections", "attempts", "seconds"),
    [
        pytest.param(0, 1, 9, 1.0, id="attempts play no part"),
        pytest.param(0, 3, 3, 4.0, id="each failure doubles it"),
        pytest.param(0, 5, 5, 10.0, id="there is a limit"),
        pytest.param(0, 5000, 5000, 10.0, id="however many failures there are"),
        pytest.param(2, 4, 6, 2.0, id="errors come first"),
    ],
)
def test_rule_01_backoff_doubles_from_the_initial_duration_to_the_maximum(
    errors: int, rejections: int, attempts: int, seconds: float
) -> None:
    queued = QueuedPod(make_pod(), START)
    queued.consecutive_errors_count = errors
    queued.unschedulable_count = rejections
    queued.attempts = attempts
    assert BackoffPolicy().expiration(queued) == START + seconds


def test_rule_01_there_is_no_backoff_without_failures_or_with_a_maximum_of_0() -> None:
    queued = QueuedPod(make_pod(), START)
    assert BackoffPolicy().expiration(queued) is None
    queued.unschedulable_count = 1
    assert BackoffPolicy(max_seconds=0.0).expiration(queued) is None


def test_rule_02_a_pod_waits_through_the_whole_second_in_which_its_backoff_ends() -> (
    None
):
    rig = Rig(start=START + 0.25)
    rig.add("p")
    rig.error(rig.pop())  # 1 s from 0.25 ends in second 1
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert queued.backoff_expiration == START + 1
    rig.clock.advance(1.5)
    assert rig.where("p") is ERROR_BACKOFF
    rig.clock.advance(0.25)  # second 2 begins
    assert rig.where("p") is ACTIVE


@pytest.mark.parametrize(("waited", "queue"), [(1.75, BACKOFF), (2.0, ACTIVE)])
def test_rule_02_a_pod_that_is_woken_in_that_second_still_waits(
    waited: float, queue: QueueName
) -> None:
    rig = Rig()
    rig.add_rejected("p")  # its backoff ends in second 1
    rig.clock.advance(waited)
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is queue


def test_rule_03_the_expiration_is_kept_until_the_next_failure() -> None:
    rig = Rig()
    queued = rig.add_rejected("p")
    assert queued.backoff_expiration is None  # nobody has asked for it
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert queued.backoff_expiration == START + 1
    assert rig.pop() is queued
    assert queued.backoff_expiration == START + 1
    rig.reject(queued, "A")
    assert queued.backoff_expiration is None


def test_rule_04_rejections_and_errors_are_counted_apart() -> None:
    rig = Rig()
    rig.add("p")
    queued = rig.pop()
    for kind in (FailureKind.ERROR, FailureKind.NO_NODES):
        rig.clock.advance(0.5)
        queued.was_flushed = True
        rig.error(queued, kind)
        assert queued.timestamp == rig.clock.now()
        assert not queued.was_flushed
        rig.clock.advance(30.0)
        rig.pop()
    assert (queued.consecutive_errors_count, queued.unschedulable_count) == (2, 0)
    rig.reject(queued, "A")
    assert (queued.consecutive_errors_count, queued.unschedulable_count) == (0, 1)
    assert queued.attempts == 3


def test_rule_05_within_a_second_of_backoff_priority_decides_then_timestamp() -> None:
    rig = Rig(events={"A": [NODE_ADDED]})
    for name, priority in [("late", 9), ("old", 0), ("high", 5), ("new", 0)]:
        rig.add_rejected(name, priority=priority)
        rig.clock.advance(0.125)
    again = rig.queue.get("default/late")
    assert again is not None
    again.unschedulable_count = 3
    rig.add("error")
    rig.error(rig.pop())
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert names(rig.queue.backing_off()) == ["high", "old", "new", "late"]
    assert names(rig.queue.backing_off_after_error()) == ["error"]


def test_rule_06_pop_takes_active_pods_then_backoff_but_not_after_an_error() -> None:
    rig = Rig()
    rig.add_rejected("rejected", priority=9)
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.add("error", priority=9)
    rig.error(rig.pop())
    rig.add("active")
    rig.incoming()
    assert rig.pop().pod.name == "active"
    assert rig.pop().pod.name == "rejected"
    assert rig.incoming() == {"active|PopFromBackoffQ": 1}
    assert rig.queue.pop() is None
    assert rig.where("error") is ERROR_BACKOFF


@pytest.mark.parametrize("way", ["flush", "activate", "pop"])
def test_rule_07_gates_are_asked_on_the_way_into_backoff_and_not_out_of_it(
    way: str,
) -> None:
    gate = Gate()
    rig = Rig(gates={"G": gate})
    queued = rig.add_rejected("p")
    gate.asked.clear()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert gate.asked == ["p"]
    gate.blocked.add("p")
    if way == "flush":
        rig.clock.advance(2.0)
    elif way == "activate":
        rig.queue.activate([queued.pod])
    assert rig.pop() is queued
    assert gate.asked == ["p"]


def test_rule_07_a_gated_pod_gets_no_place_in_backoff() -> None:
    gate = Gate()
    rig = Rig(gates={"G": gate})
    queued = rig.add_rejected("p")
    gate.blocked.add("p")
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is UNSCHEDULABLE
    assert queued.gating_plugin == "G"


# Where a failed or woken pod goes


@pytest.mark.parametrize(
    ("hint", "pending", "wait", "queue"),
    [
        pytest.param(QueueingHint.SKIP, False, 0.0, UNSCHEDULABLE, id="skip"),
        pytest.param(QueueingHint.QUEUE, False, 0.0, BACKOFF, id="after backoff"),
        pytest.param(QueueingHint.QUEUE, False, 5.0, ACTIVE, id="backoff is over"),
        pytest.param(QueueingHint.QUEUE, True, 0.0, ACTIVE, id="immediately"),
    ],
)
def test_rule_08_the_strategy_decides_on_the_queue(
    hint: QueueingHint, pending: bool, wait: float, queue: QueueName
) -> None:
    rig = Rig(events={"A": [on(EventResource.NODE, ActionType.ADD, always(hint))]})
    rig.add("p")
    rig.reject(rig.pop(), "A", pending=["A"] if pending else [])
    rig.clock.advance(wait)
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is queue


@pytest.mark.parametrize(
    ("longest", "queue"), [(10.0, ERROR_BACKOFF), (0.0, ACTIVE)], ids=["10 s", "none"]
)
def test_rule_09_after_an_error_a_pod_backs_off_whatever_has_happened(
    longest: float, queue: QueueName
) -> None:
    rig = Rig(events={"A": [NODE_ADDED_SKIP]}, longest=longest)
    rig.add("p")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.error(queued)
    assert rig.where("p") is queue


def test_rule_10_only_rejecting_plugins_are_asked() -> None:
    asked: list[str] = []

    def hint(name: str, answer: QueueingHint) -> ClusterEventWithHint:
        def ask(_pod: Pod, _old: object, _new: object) -> QueueingHint:
            asked.append(name)
            return answer

        return on(EventResource.NODE, ActionType.ADD, ask)

    rig = Rig(
        events={
            "A": [hint("A", QueueingHint.SKIP)],
            "B": [hint("B", QueueingHint.QUEUE)],
            "C": [hint("C", QueueingHint.SKIP)],
        }
    )
    rig.add_rejected("p", "A", "C")
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert asked == ["A", "C"]
    assert rig.where("p") is UNSCHEDULABLE


def test_rule_10_queue_from_a_pending_plugin_beats_queue_from_another() -> None:
    rig = Rig(events={"A": [NODE_ADDED], "B": [NODE_ADDED]})
    rig.add("p")
    rig.reject(rig.pop(), "A", pending=["B"])
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is ACTIVE


def test_rule_10_a_hint_that_fails_counts_as_queue(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_pod: Pod, _old: object, _new: object) -> QueueingHint:
        raise ValueError("oh")

    rig = Rig(events={"A": [on(EventResource.NODE, ActionType.ADD, broken)]})
    rig.add_rejected("p")
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is BACKOFF
    assert "queueing hint of plugin 'A' failed for pod default/p" in caplog.text


def test_rule_11_a_wildcard_moves_every_pod_or_the_one_it_is_aimed_at() -> None:
    rig = Rig(events={"A": []})
    first, second = rig.add_rejected("p1"), rig.add_rejected("p2")
    rig.queue.move_all(FORCE_ACTIVATE, None, NODE)
    assert rig.where("p1") is rig.where("p2") is UNSCHEDULABLE
    rig.queue.move_all(FORCE_ACTIVATE, None, first.pod)
    assert (rig.where("p1"), rig.where("p2")) == (BACKOFF, UNSCHEDULABLE)
    rig.queue.move_all(UNSCHEDULABLE_TIMEOUT)
    assert second.queue is BACKOFF


def test_rule_12_an_event_that_no_plugin_registered_leaves_no_trace() -> None:
    rig = Rig(events={"A": [NODE_ADDED]})
    rig.add_rejected("p")
    rig.add("in-flight")
    rig.pop()
    rig.queue.move_all(ASSIGNED_POD_ADD, None, make_pod(node="n1"))
    assert rig.where("p") is UNSCHEDULABLE
    assert rig.queue.in_flight_event_count == 0
    rig.queue.move_all(FORCE_ACTIVATE)
    assert rig.queue.in_flight_event_count == 1


def test_rule_13_a_pre_check_holds_for_queued_pods_only() -> None:
    rig = Rig()
    rig.add_rejected("p")
    rig.add("in-flight")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE, pre_check=lambda _pod: False)
    assert rig.where("p") is UNSCHEDULABLE
    assert rig.queue.in_flight_event_count == 1
    rig.reject(queued, "A")
    assert rig.where("in-flight") is BACKOFF


def test_rule_13_nothing_is_recorded_while_no_pod_is_in_flight() -> None:
    rig = Rig()
    rig.add("p")
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.queue.in_flight_event_count == 0


def test_rule_14_events_leave_active_and_backing_off_pods_alone() -> None:
    rig = Rig()
    rig.add_rejected("waiting")
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.add("active")
    rig.incoming()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert (rig.where("waiting"), rig.where("active")) == (BACKOFF, ACTIVE)
    assert rig.incoming() == {}


# In flight


@pytest.mark.parametrize(
    ("rejected_by", "pending", "queue"),
    [
        pytest.param(["A"], [], BACKOFF, id="one that helps it"),
        pytest.param(["B"], [], UNSCHEDULABLE, id="one for another plugin"),
        pytest.param(
            ["A"], ["B"], BACKOFF, id="one for its plugin that is not pending"
        ),
        pytest.param(["B"], ["A"], ACTIVE, id="one for its pending plugin"),
    ],
)
def test_rule_15_a_failed_pod_hears_of_what_happened_since_it_was_popped(
    rejected_by: Sequence[str], pending: Sequence[str], queue: QueueName
) -> None:
    rig = Rig(events={"A": [NODE_ADDED], "B": []})
    rig.add("p")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.reject(queued, *rejected_by, pending=pending)
    assert rig.where("p") is queue


def test_rule_15_a_failed_pod_does_not_hear_of_what_happened_before() -> None:
    rig = Rig()
    rig.add("first")
    first = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.add("second")
    second = rig.pop()
    rig.reject(second, "A")
    rig.reject(first, "A")
    assert (rig.where("first"), rig.where("second")) == (BACKOFF, UNSCHEDULABLE)


def test_rule_16_the_replay_shows_the_newest_pod_and_the_recorded_objects() -> None:
    seen: list[tuple[Mapping[str, str], ApiObject | None, ApiObject | None]] = []

    def hint(pod: Pod, old: ApiObject | None, new: ApiObject | None) -> QueueingHint:
        seen.append((pod.labels, old, new))
        return QueueingHint.SKIP

    rig = Rig(events={"A": [on(EventResource.NODE, ActionType.ADD, hint)]})
    rig.add("p")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    newest = rig.relabel("p")
    rig.reject(queued, "A")
    assert seen == [(newest.labels, None, NODE)]
    assert queued.pod is newest


def test_rule_17_events_are_forgotten_when_no_older_pod_is_in_flight() -> None:
    rig = Rig()
    for name in ("p1", "p2"):
        rig.add(name)
        rig.pop()
        rig.queue.move_all(NODE_ADD, None, NODE)
    first, second = rig.queue.in_flight
    rig.queue.done(second)
    assert rig.queue.in_flight_event_count == 2
    rig.add("p3")
    rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.queue.done(first)
    assert rig.queue.in_flight_event_count == 1
    rig.queue.done(first)  # twice does no harm
    assert rig.queue.in_flight_event_count == 1


def test_rule_18_an_update_of_a_pod_in_flight_is_an_event_and_nothing_else() -> None:
    rig = Rig(events={"A": [on(EventResource.POD, ActionType.UPDATE_POD_LABEL)]})
    rig.add("p", nominated="n1")
    rig.add("other")
    queued, other = rig.pop(), rig.pop()
    rig.relabel("p")
    assert len(rig.queue) == 0
    assert rig.nominated("n1") == ["p"]
    rig.reject(queued, "A")
    rig.reject(other, "A")
    assert (rig.where("p"), rig.where("other")) == (BACKOFF, BACKOFF)


def test_rule_19_activating_a_pod_in_flight_helps_that_pod_after_backoff() -> None:
    rig = Rig(events={"A": []})
    for name in ("p1", "p2"):
        rig.add(name)
    first, second = rig.pop(), rig.pop()
    rig.queue.activate([first.pod])
    rig.reject(first, pending=["A"])
    rig.reject(second, pending=["A"])
    assert (rig.where("p1"), rig.where("p2")) == (BACKOFF, UNSCHEDULABLE)


def test_rule_20_a_failed_pod_that_is_queued_again_already_changes_nothing() -> None:
    rig = Rig()
    pod = rig.add("p")
    queued = rig.pop()
    rig.queue.add(pod)
    newer = rig.queue.get(pod.key)
    rig.reject(queued, "A")
    assert rig.queue.get(pod.key) is newer
    assert newer is not None
    assert (newer.queue, newer.unschedulable_count) == (ACTIVE, 0)
    assert queued.unschedulable_count == 0
    assert rig.queue.in_flight == []


def test_rule_21_a_flush_by_timeout_helps_every_pod_in_flight() -> None:
    rig = Rig(events={"A": [NODE_ADDED], "B": []}, limit=60.0)
    rig.add_rejected("old")
    rig.add("p")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)  # of no interest to B, and kept
    assert rig.queue.in_flight_event_count == 1
    rig.clock.advance(90.0)
    assert rig.queue.in_flight_event_count == 1  # "old" had been woken
    rig.reject(queued, "B")
    assert rig.where("p") is UNSCHEDULABLE
    rig.add("q", priority=5)
    queued = rig.pop()
    rig.clock.advance(90.0)
    rig.reject(queued, "B")
    assert rig.where("q") is BACKOFF


def test_rule_22_a_popped_pod_that_is_in_flight_already_is_dropped() -> None:
    rig = Rig()
    pod = rig.add("p", priority=9)
    rig.pop()
    rig.queue.add(pod)
    rig.add("next")
    dropped = rig.queue.get(pod.key)
    assert rig.pop().pod.name == "next"
    assert dropped is not None
    assert dropped.attempts == 1
    assert rig.queue.in_flight == [pod.uid, rig.stored["default/next"].uid]
    assert rig.queue.get(pod.key) is None


# Gates


def test_rule_23_the_last_gate_is_asked_first_and_the_first_objection_ends_it() -> None:
    order: list[str] = []
    closed = {"G2"}

    def gate(name: str) -> Callable[[Pod], Status | None]:
        def ask(_pod: Pod) -> Status | None:
            order.append(name)
            return Status.unschedulable() if name in closed else None

        return ask

    rig = Rig(gates={name: gate(name) for name in ("G1", "G2", "G3")})
    pod = rig.add("p")
    assert order == ["G1", "G2"]
    queued = rig.queue.get(pod.key)
    assert queued is not None
    closed.clear()
    order.clear()
    rig.queue.activate([pod])
    assert order == ["G2", "G1", "G3"]
    assert queued.queue is ACTIVE
    assert queued.gating_plugin == ""
    assert queued.unschedulable_plugins == {"G2"}  # until the next failure


@pytest.mark.parametrize(
    ("events", "queue"),
    [
        pytest.param(
            {"G": [], "A": [NODE_ADDED]}, UNSCHEDULABLE, id="not for the gate"
        ),
        pytest.param({"G": [NODE_ADDED], "A": []}, ACTIVE, id="for the gate"),
        pytest.param(
            {"G": [NODE_ADDED_SKIP], "A": []}, UNSCHEDULABLE, id="no help for the gate"
        ),
        pytest.param(
            {"G": [NODE_ADDED_SKIP], "A": [NODE_ADDED]},
            ACTIVE,
            id="other plugins asked",
        ),
    ],
)
def test_rule_24_a_gated_pod_hears_only_of_events_that_its_gate_registered(
    events: Mapping[str, Sequence[ClusterEventWithHint]], queue: QueueName
) -> None:
    gate = Gate()
    rig = Rig(events=events, gates={"G": gate})
    queued = rig.add_rejected("p")
    rig.clock.advance(60.0)
    gate.blocked.add("p")
    rig.queue.activate([queued.pod])
    assert queued.gating_plugin == "G"
    gate.blocked.clear()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert queued.queue is queue


def test_rule_24_the_flush_marks_gated_pods_and_moves_them_only_for_wildcards() -> None:
    everything = on(EventResource.WILDCARD, ActionType.ALL)
    gates = {"G": Gate({"p"}), "W": Gate({"q"})}
    rig = Rig(events={"G": [NODE_ADDED], "W": [everything]}, gates=gates, limit=60.0)
    rig.add("p")
    rig.add("q")
    gates["W"].blocked.clear()
    rig.clock.advance(90.0)
    assert (rig.where("p"), rig.where("q")) == (UNSCHEDULABLE, ACTIVE)
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert queued.was_flushed


def test_rule_24_by_choice_the_flush_asks_the_gates_as_later_versions_do() -> None:
    gate = Gate({"p"})
    rig = Rig(events={"G": []}, gates={"G": gate}, limit=60.0, flush_gated=True)
    rig.add("p")
    queued = rig.queue.get("default/p")
    assert queued is not None
    rig.clock.advance(90.0)
    assert gate.asked == ["p", "p"]
    assert queued.queue is UNSCHEDULABLE
    assert not queued.was_flushed
    rig.clock.advance(60.0)
    assert gate.asked == ["p", "p"], "it has been asked less than 60 seconds ago"
    gate.blocked.clear()
    rig.clock.advance(30.0)
    assert queued.queue is ACTIVE
    assert queued.was_flushed
    assert queued.timestamp == START, "its place in the queue stays"


def test_rule_25_updates_of_a_gated_pod_are_put_to_all_of_its_plugins() -> None:
    gate = Gate()
    relabelled = on(EventResource.POD, ActionType.UPDATE_POD_LABEL)
    rig = Rig(events={"G": [], "A": [relabelled]}, gates={"G": gate})
    queued = rig.add_rejected("p")
    rig.clock.advance(60.0)
    gate.blocked.add("p")
    rig.queue.activate([queued.pod])
    gate.blocked.clear()
    rig.relabel("p")
    assert queued.queue is ACTIVE


def test_rule_26_a_gated_pod_that_was_never_tried_needs_no_backoff() -> None:
    gate = Gate({"new", "tried"})
    rig = Rig(events={"G": [NODE_ADDED], "A": []}, gates={"G": gate})
    rig.add("new")
    gate.blocked.discard("tried")
    tried = rig.add_rejected("tried")
    gate.blocked.add("tried")
    rig.queue.activate([tried.pod])
    gate.blocked.clear()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert (rig.where("new"), rig.where("tried")) == (ACTIVE, BACKOFF)


def test_rule_27_only_a_pod_that_an_event_moved_counts_when_it_is_gated_again() -> None:
    gates = {"G": Gate({"p"}), "H": Gate()}
    rig = Rig(events={"G": [NODE_ADDED], "H": [NODE_ADDED]}, gates=gates)
    pod = rig.add("p")
    gates["G"].blocked.clear()
    gates["H"].blocked.add("p")
    rig.incoming()
    rig.queue.activate([pod])
    queued = rig.queue.get(pod.key)
    assert queued is not None
    assert queued.gating_plugin == "H"
    assert rig.incoming() == {}
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert queued.queue is UNSCHEDULABLE
    assert rig.incoming() == {"unschedulable|NodeAdd": 1}


def test_rule_28_a_gated_pod_keeps_its_timestamp_until_it_is_first_active() -> None:
    gate = Gate({"p"})
    rig = Rig(events={"G": [NODE_ADDED]}, gates={"G": gate})
    rig.add("p")
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert queued.initial_attempt_timestamp is None
    rig.clock.advance(5.0)
    gate.blocked.clear()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert queued.timestamp == START
    assert queued.initial_attempt_timestamp == START + 5
    rig.clock.advance(5.0)
    rig.reject(rig.pop(), pending=["G"])
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert queued.queue is ACTIVE
    assert queued.initial_attempt_timestamp == START + 5


# Updates, adds, deletes


def test_rule_29_an_update_replaces_the_pod_and_its_place_and_asks_no_gate() -> None:
    gate = Gate()
    rig = Rig(gates={"G": gate})
    rig.add("p1", priority=1)
    second = rig.add("p2", priority=0)
    queued = rig.queue.get("default/p2")
    assert queued is not None
    gate.blocked.update({"p1", "p2"})
    rig.clock.advance(1.0)
    gated = replace(
        second.spec, priority=2, scheduling_gates=(PodSchedulingGate(name="late"),)
    )
    newest = rig.store(replace(second, spec=gated))
    assert names(rig.queue.active()) == ["p2", "p1"]
    assert queued.pod is newest
    assert queued.timestamp == START


def test_rule_29_an_update_moves_a_pod_within_backoff() -> None:
    rig = Rig()
    for name, priority in [("p1", 1), ("p2", 0)]:
        rig.add_rejected(name, priority=priority)
    rig.queue.move_all(NODE_ADD, None, NODE)
    second = rig.stored["default/p2"]
    rig.store(replace(second, spec=replace(second.spec, priority=2)))
    assert names(rig.queue.backing_off()) == ["p2", "p1"]


def test_rule_29_an_update_of_a_pod_that_is_nowhere_adds_it() -> None:
    rig = Rig()
    pod = rig.add("p")
    rig.queue.delete(pod)
    rig.clock.advance(1.0)
    rig.incoming()
    rig.relabel("p")
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert (queued.timestamp, queued.attempts) == (START + 1, 0)
    assert rig.incoming() == {"active|UnschedulablePodUpdate": 1}


def test_rule_30_an_update_is_put_to_the_plugins_property_by_property() -> None:
    wanted = ActionType.UPDATE_POD_TOLERATION
    wanted |= ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
    rig = Rig(events={"A": [on(EventResource.POD, wanted)]})
    pod = rig.add_rejected("p").pod
    rig.incoming()
    rig.relabel("p")
    assert rig.where("p") is UNSCHEDULABLE
    claims = (PodResourceClaimStatus(name="gpu"),)
    much = make_pod(name="p", labels={"other": "label"}, tolerations=["a"])
    rig.store(replace(much, status=replace(pod.status, resource_claim_statuses=claims)))
    assert rig.where("p") is BACKOFF
    # The first property that helps is the cause; the next is not looked at.
    assert rig.incoming() == {"backoff|UnschedulablePodUpdatePodToleration": 1}


def test_rule_31_an_update_with_another_uid_changes_the_record_in_place() -> None:
    rig = Rig()
    queued = rig.add_rejected("p")
    rig.clock.advance(1.0)
    rig.store(make_pod(name="p", uid="other"))
    assert rig.queue.get("default/p") is queued
    assert queued.pod.uid == "other"
    assert (queued.timestamp, queued.unschedulable_count) == (START, 1)


def test_rule_32_delete_takes_the_pod_out_by_name_and_leaves_it_in_flight() -> None:
    rig = Rig()
    pod = rig.add("p", nominated="n1")
    rig.pop()
    rig.queue.add(pod)
    rig.queue.delete(pod)
    assert rig.nominated("n1") == []
    assert len(rig.queue) == 0
    assert rig.queue.in_flight == [pod.uid]


def test_rule_33_a_new_active_pod_brings_its_nomination_a_gated_one_does_not() -> None:
    gate = Gate({"gated"})
    rig = Rig(events={"G": [NODE_ADDED]}, gates={"G": gate})
    rig.add("free", nominated="n1")
    rig.add("gated", nominated="n1")
    assert rig.nominated("n1") == ["free"]
    gate.blocked.clear()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("gated") is ACTIVE
    assert rig.nominated("n1") == ["free"]
    rig.queue.delete(rig.stored["default/gated"])
    rig.relabel("gated")  # is nowhere, so the update adds it
    assert rig.nominated("n1") == ["free", "gated"]


def test_rule_34_activate_asks_gates_but_no_hint_and_ignores_backoff() -> None:
    gate = Gate()
    rig = Rig(events={"A": [NODE_ADDED_SKIP]}, gates={"G": gate})
    first, second = rig.add_rejected("p1"), rig.add_rejected("p2")
    gate.blocked.add("p2")
    rig.incoming()
    rig.queue.activate([first.pod, second.pod])
    assert (rig.where("p1"), rig.where("p2")) == (ACTIVE, UNSCHEDULABLE)
    assert rig.incoming() == {"active|ForceActivate": 1}


# Nominator


def test_rule_35_a_new_nomination_replaces_the_old_one_if_the_pod_is_pending() -> None:
    rig = Rig()
    first, second = rig.add("p1", nominated="n1"), rig.add("p2", nominated="n1")
    nominator = rig.queue.nominator
    nominator.add(first)  # again: to the end
    assert rig.nominated("n1") == ["p2", "p1"]
    nominator.add(second, NominatingInfo("n2", NominatingMode.OVERRIDE))
    assert (rig.nominated("n1"), rig.nominated("n2")) == (["p1"], ["p2"])
    nominator.add(second, NominatingInfo())  # NOOP: what its status says
    assert rig.nominated("n1") == ["p1", "p2"]
    rig.stored[first.key] = replace(first, node_name="n3")
    nominator.add(first)
    del rig.stored[second.key]
    nominator.add(second)
    assert nominator.nodes() == ()


def test_rule_36_an_update_without_nomination_keeps_one_made_in_memory() -> None:
    rig = Rig()
    for name in ("p1", "p2"):
        rig.add(name)
        node = NominatingInfo("n1", NominatingMode.OVERRIDE)
        rig.queue.nominator.add(rig.stored[f"default/{name}"], node)
    rig.relabel("p1")
    assert rig.nominated("n1") == ["p2", "p1"]
    first = rig.stored["default/p1"]
    status = replace(first.status, nominated_node_name="n2")
    rig.store(replace(first, status=status))
    assert (rig.nominated("n1"), rig.nominated("n2")) == (["p2"], ["p1"])
    rig.store(first)
    assert rig.nominated("n2") == []


def test_rule_37_a_cleared_nomination_leaves_the_pod_nominated_to_no_node() -> None:
    rig = Rig()
    rig.add("p", nominated="n1")
    rig.reject(rig.pop(), "A", nominating=CLEAR)
    assert rig.queue.nominator.nodes() == ()
    status = replace(rig.stored["default/p"].status, nominated_node_name="")
    rig.store(replace(rig.stored["default/p"], status=status))
    assert rig.queue.nominator.nodes() == ()


# Order


def test_rule_38_active_pods_come_by_priority_then_by_timestamp() -> None:
    rig = Rig()
    for name, priority in [("p1", 0), ("p2", 5), ("p3", 0), ("p4", 5)]:
        rig.add(name, priority=priority)
        rig.clock.advance(0.25)
    again = rig.pop()
    assert again.pod.name == "p2"
    rig.reject(again, pending=["A"])
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert names(rig.queue.active()) == ["p4", "p2", "p1", "p3"]


def test_rule_39_the_flush_takes_pods_that_are_strictly_older_than_the_limit() -> None:
    rig = Rig(limit=60.0)
    old = rig.add_rejected("old")
    rig.clock.advance(30.0)
    rig.add_rejected("young")
    rig.clock.advance(30.0)
    assert old.queue is UNSCHEDULABLE  # exactly 60 s old
    rig.clock.advance(30.0)
    assert (rig.where("old"), rig.where("young")) == (ACTIVE, UNSCHEDULABLE)
    assert rig.pop() is old
    assert old.was_flushed
    rig.reject(old, "A")
    assert not old.was_flushed


def test_every_rule_has_a_test() -> None:
    numbered = Counter(
        name[10:12] for name in globals() if name.startswith("test_rule_")
    )
    assert sorted(numbered) == [f"{number:02}" for number in range(1, 40)]
