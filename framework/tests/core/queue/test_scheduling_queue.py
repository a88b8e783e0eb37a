"""The scheduling queue beyond its rules: several profiles, answers, timers, upkeep."""

from collections.abc import Callable, Mapping, Sequence

import pytest
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Pod,
    QueuedPodInfo,
    QueueingHint,
    Status,
)
from quaymaster.config import Kubernetes
from quaymaster.hookspecs import SortKey
from quaymaster.scheduler import PendingPod, QueueName, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.engine import be_busy
from tests.kit.internals.engine import PodChanges
from tests.kit.internals.queue import (
    ASSIGNED_POD_ADD,
    FORCE_ACTIVATE,
    NODE_ADD,
    CompiledProfiles,
    Nominator,
    QueuedPod,
    QueueProfile,
    SchedulingQueue,
    active_entries,
)
from tests.kit.internals.runtime import HookGuards
from tests.kit.queue_rig import START, by_priority, pod_names

HOUR = 3600.0

NODE = make_node()
NODE_ADDED = ClusterEventWithHint(NODE_ADD)

Events = Mapping[str, Sequence[ClusterEventWithHint] | None]
SortKeyOf = Callable[[QueuedPodInfo], SortKey]


def by_name(queued: QueuedPodInfo) -> str:
    return queued.pod.name


def make_queue(
    clock: VirtualClock | None = None,
    profiles: Mapping[str, QueueProfile] | None = None,
    events: Events | None = None,
) -> SchedulingQueue:
    alone = QueueProfile(sort_key=by_priority, events=events or {"A": [NODE_ADDED]})
    queue = SchedulingQueue(
        clock=clock or VirtualClock(START),
        profiles=profiles or {"default-scheduler": alone},
        nominator=Nominator(lambda _key: None),
    )
    queue.start()
    return queue


def pop(queue: SchedulingQueue) -> QueuedPod:
    queued = queue.pop()
    assert queued is not None
    return queued


def fail(queue: SchedulingQueue, *plugins: str) -> QueuedPod:
    """Pop a pod and requeue it as rejected, or as failed without plugins."""
    queued = pop(queue)
    queued.unschedulable_plugins = frozenset(plugins)
    queue.add_unschedulable(queued)
    return queued


# Several profiles


def make_mixed_queue(second_group: str) -> SchedulingQueue:
    second: SortKeyOf = by_name if second_group == "by-name" else by_priority
    return make_queue(
        profiles={
            "first": QueueProfile(sort_key=by_priority, sort_group="by-priority"),
            "second": QueueProfile(sort_key=second, sort_group=second_group),
        }
    )


def add_mixed(queue: SchedulingQueue) -> None:
    pods = [
        ("d", "first", 0),
        ("b", "second", 5),
        ("c", "first", 5),
        ("a", "second", 0),
        ("e", "first", 9),
    ]
    for name, scheduler, priority in pods:
        queue.add(make_pod(name=name, scheduler_name=scheduler, priority=priority))


def test_profiles_of_one_sort_group_share_one_order() -> None:
    queue = make_mixed_queue("by-priority")
    add_mixed(queue)
    assert pod_names(queue.active()) == ["e", "b", "c", "d", "a"]


def test_profiles_of_different_groups_keep_their_own_orders() -> None:
    queue = make_mixed_queue("by-name")
    add_mixed(queue)
    # Of the first pods of both groups, the one of higher priority comes first.
    order = ["e", "c", "d", "a", "b"]
    assert pod_names(queue.active()) == order
    assert [pop(queue).pod.name for _ in order] == order


@pytest.mark.parametrize(
    ("first", "second", "groups"),
    [
        ("Sort", "Sort", 1),
        (("Sort", {"by": ["a"]}), ("Sort", {"by": ["a"]}), 1),
        (("Sort", {"a": 1, "b": 2}), ("Sort", {"b": 2, "a": 1}), 1),
        (("Sort", {"by": ["a"]}), ("Sort", {"by": ["b"]}), 2),
        (("Sort", None), ("Other", None), 2),
    ],
)
def test_sort_groups_are_compared_by_value(
    first: object, second: object, groups: int
) -> None:
    profiles = {
        "first": QueueProfile(sort_key=by_name, sort_group=first),
        "second": QueueProfile(sort_key=by_name, sort_group=second),
    }
    assert CompiledProfiles(profiles).groups == groups


def test_keys_that_are_equal_keep_the_order_of_arrival() -> None:
    profile = QueueProfile(sort_key=lambda _queued: 0)
    queue = make_queue(profiles={"default-scheduler": profile})
    for name in ("c", "a", "b"):
        queue.add(make_pod(name=name))
    assert pod_names(queue.active()) == ["c", "a", "b"]


def test_pod_whose_update_names_an_unknown_profile_is_retried() -> None:
    queue = make_queue()
    pod = make_pod()
    queue.add(pod)
    queued = fail(queue, "A")
    renamed = replace(pod, spec=replace(pod.spec, scheduler_name="unknown"))
    queue.update(pod, renamed, PodChanges(Kubernetes("1.36")).of(pod, renamed))
    assert queued.queue is QueueName.BACKOFF


# Events that reach plugins


@pytest.mark.parametrize(
    ("resource", "heard"),
    [
        (EventResource.ASSIGNED_POD, True),
        (EventResource.NODE, True),
        (EventResource.CSI_DRIVER, True),
        (EventResource.DEVICE_CLASS, True),
        (EventResource.VOLUME_ATTACHMENT, False),
        (EventResource.RESOURCE_SLICE, False),
    ],
)
def test_plugin_without_registrations_gets_almost_all_events(
    resource: EventResource, heard: bool
) -> None:
    queue = make_queue(events={"A": None})
    queue.add(make_pod())
    queued = fail(queue, "A")
    queue.move_all(ClusterEvent(resource, ActionType.DELETE), NODE, None)
    assert (queued.queue is QueueName.BACKOFF) == heard


@pytest.mark.parametrize(
    ("actions", "added"),
    [
        pytest.param(ActionType.ADD, True, id="new nodes only"),
        pytest.param(ActionType.UPDATE_NODE_LABEL, False, id="labels only"),
        pytest.param(ActionType.ADD | ActionType.UPDATE_NODE_TAINT, False, id="both"),
    ],
)
def test_plugin_that_awaits_new_nodes_gets_taints_without_its_hint(
    actions: ActionType, added: bool
) -> None:
    event = ClusterEvent(EventResource.NODE, actions)
    never = ClusterEventWithHint(event, lambda _pod, _old, _new: QueueingHint.SKIP)
    queue = make_queue(events={"A": [never]})
    queue.add(make_pod())
    queued = fail(queue, "A")
    taint = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
    queue.move_all(taint, NODE, NODE)
    assert (queued.queue is QueueName.BACKOFF) == added


def test_event_looks_only_at_pods_of_the_plugins_that_it_interests() -> None:
    assigned = ClusterEventWithHint(ASSIGNED_POD_ADD)
    queue = make_queue(events={"A": [NODE_ADDED], "B": [assigned]})
    for number in range(5):
        queue.add(make_pod(name=f"p{number}"))
        fail(queue, "A", *(["B"] if number == 3 else []))
    looked_at: list[str] = []

    def note(pod: Pod) -> bool:
        looked_at.append(pod.name)
        return False

    queue.move_all(ASSIGNED_POD_ADD, None, make_pod(node="n"), pre_check=note)
    assert looked_at == ["p3"]


def test_only_resources_that_a_plugin_registered_by_name_are_watched() -> None:
    everything = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)
    classes = ClusterEvent(EventResource.STORAGE_CLASS, ActionType.ADD)
    queue = make_queue(
        events={"A": [ClusterEventWithHint(everything), ClusterEventWithHint(classes)]}
    )
    assert queue.is_watched(EventResource.STORAGE_CLASS, ActionType.ADD)
    assert not queue.is_watched(EventResource.STORAGE_CLASS, ActionType.DELETE)
    assert not queue.is_watched(EventResource.CSI_NODE, ActionType.ADD)


# Gates that fail


def test_gate_that_fails_holds_the_pod_back(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_pod: Pod) -> Status | None:
        raise ValueError("oh")

    gate = HookGuards().compile("G", "pre_enqueue", ["pod"], ["pod"], broken)
    profile = QueueProfile(sort_key=by_priority, pre_enqueue=[("G", gate)])
    queue = make_queue(profiles={"default-scheduler": profile})
    queue.add(make_pod())
    assert queue.unschedulable()[0].gating_plugin == "G"
    assert "pre_enqueue of plugin 'G' failed for pod default/pod" in caplog.text


def test_gate_that_is_no_longer_in_the_pods_profile_is_lifted() -> None:
    closed = QueueProfile(
        sort_key=by_priority,
        pre_enqueue=[("G", lambda _pod: Status.unschedulable())],
    )
    queue = make_queue(
        profiles={"default-scheduler": closed, "open": QueueProfile(sort_key=by_name)}
    )
    pod = make_pod()
    queue.add(pod)
    moved = replace(pod, spec=replace(pod.spec, scheduler_name="open"))
    queue.update(pod, moved, [])
    queue.activate([moved])
    assert pod_names(queue.active()) == ["pod"]


def make_gated_queue(gated: set[str], events: Events) -> SchedulingQueue:
    def gate(pod: Pod) -> Status | None:
        return Status.unschedulable() if pod.name in gated else None

    profile = QueueProfile(
        sort_key=by_priority, pre_enqueue=[("G", gate)], events=events
    )
    return make_queue(profiles={"default-scheduler": profile})


def test_gated_new_pod_does_not_replace_an_active_pod_of_its_name() -> None:
    gated: set[str] = set()
    queue = make_gated_queue(gated, {})
    queue.add(make_pod(name="p"))
    first = queue.get("default/p")
    gated.add("p")
    queue.add(make_pod(name="p", uid="other"))
    assert queue.get("default/p") is first
    assert pod_names(queue.active()) == ["p"]
    assert queue.unschedulable() == []


def test_gated_new_pod_replaces_an_unschedulable_pod_of_its_name() -> None:
    gated: set[str] = set()
    queue = make_gated_queue(gated, {"A": [NODE_ADDED]})
    queue.add(make_pod(name="p"))
    first = fail(queue, "A")
    gated.add("p")
    queue.add(make_pod(name="p", uid="other"))
    second = queue.get("default/p")
    assert second is not first
    assert queue.unschedulable() == [second]
    queue.move_all(NODE_ADD, None, NODE)  # of interest to the first one only
    assert first.queue is None
    assert queue.unschedulable() == [second]


# Why is my pod pending?


def test_each_pending_pod_can_be_explained() -> None:
    clock = VirtualClock(START)
    profile = QueueProfile(
        sort_key=by_priority,
        pre_enqueue=[("G", lambda pod: Status.pending() if pod.name == "g" else None)],
        events={"A": [NODE_ADDED], "B": []},
    )
    queue = make_queue(clock, profiles={"default-scheduler": profile})
    for name, plugins in [("backoff", ["A"]), ("error", []), ("stuck", ["B", "A"])]:
        queue.add(make_pod(name=name))
        fail(queue, *plugins)
        if name == "backoff":
            queue.move_all(NODE_ADD, None, NODE)
    queue.add(make_pod(name="g"))
    queue.add(make_pod(name="ready"))
    seen = {pending.key.removeprefix("default/"): pending for pending in all_of(queue)}
    assert list(seen) == ["backoff", "error", "g", "ready", "stuck"]
    assert (seen["backoff"].queue, seen["backoff"].retry_at) == (
        QueueName.BACKOFF,
        START + 2,
    )
    assert (seen["error"].queue, seen["error"].retry_at) == (
        QueueName.ERROR_BACKOFF,
        START + 2,
    )
    assert (seen["g"].gated_by, seen["g"].rejected_by, seen["g"].retry_at) == (
        "G",
        ("G",),
        None,
    )
    assert (seen["ready"].queue, seen["ready"].retry_at) == (QueueName.ACTIVE, None)
    assert (seen["stuck"].rejected_by, seen["stuck"].retry_at) == (
        ("A", "B"),
        START + 330,
    )


def all_of(queue: SchedulingQueue) -> Sequence[PendingPod]:
    pending = [queue.why_pending(queued.key) for queued in queue]
    assert len(pending) == len(queue)
    found = [pod for pod in pending if pod is not None]
    assert all(pod.key in queue for pod in found)
    return sorted(found, key=lambda pod: pod.key)


def test_pod_that_is_not_queued_has_no_explanation() -> None:
    queue = make_queue()
    queue.add(make_pod())
    pop(queue)
    assert queue.why_pending("default/pod") is None
    assert all_of(queue) == []


# Timers


class CountingClock(VirtualClock):
    """Counts the timers that fire."""

    fired = 0

    def run_due(self) -> int:
        ran = super().run_due()
        self.fired += ran
        return ran


def test_nothing_fires_while_nothing_waits() -> None:
    clock = CountingClock(START)
    queue = make_queue(clock)
    queue.add(make_pod())
    clock.advance(24 * HOUR)
    assert clock.fired == 0


def test_an_hour_of_backoffs_fires_once_for_each_end() -> None:
    clock = CountingClock(START)
    queue = make_queue(clock)
    queue.add(make_pod())
    attempts = 0
    while clock.now() < START + HOUR:
        if queue.pop() is None:
            due = clock.next_due()
            assert due is not None
            clock.advance(due - clock.now())
            continue
        attempts += 1
        queued = QueuedPod(make_pod(), clock.now(), "default/pod")
        queued.consecutive_errors_count = attempts
        queue.add_unschedulable(queued)
    assert attempts > 300
    assert clock.fired == attempts


def test_unschedulable_pods_are_looked_at_when_one_is_old_enough() -> None:
    clock = CountingClock(START)
    queue = make_queue(clock)
    queue.add(make_pod())
    queued = fail(queue, "A")
    clock.advance(300.0)
    assert clock.fired == 0
    clock.advance(30.0)
    assert clock.fired == 1
    assert queued.queue is QueueName.ACTIVE


def test_pods_that_came_before_the_start_are_flushed_too() -> None:
    clock = VirtualClock(START)
    profile = QueueProfile(sort_key=by_priority)
    queue = SchedulingQueue(
        clock=clock,
        profiles={"default-scheduler": profile},
        nominator=Nominator(lambda _key: None),
    )
    queue.add(make_pod(name="rejected"))
    fail(queue, "A")
    queue.add(make_pod(name="failed"))
    fail(queue)
    clock.advance(60.0)
    assert len(queue.active()) == 0
    queue.start()
    assert pod_names(queue.active()) == ["failed"]
    clock.advance(270.0)
    assert pod_names(queue.active()) == ["failed", "rejected"]


def test_backoff_is_flushed_before_old_pods_at_the_same_instant() -> None:
    clock = VirtualClock(START)
    profile = QueueProfile(sort_key=lambda _queued: 0)
    queue = make_queue(clock, profiles={"default-scheduler": profile})
    queue.add(make_pod(name="old"))
    fail(queue, "A")
    clock.advance(328.0)
    queue.add(make_pod(name="failed"))
    fail(queue)
    clock.advance(2.0)
    assert pod_names(queue.active()) == ["failed", "old"]


def test_late_flushes_leave_no_pod_behind() -> None:
    clock = VirtualClock(START)
    queue = make_queue(clock)
    for name in ("p1", "p2"):
        queue.add(make_pod(name=name))
        fail(queue)
        clock.advance(0.75)
    be_busy(clock, START + 60.0)
    clock.run_due()
    assert pod_names(queue.active()) == ["p1", "p2"]


# Upkeep


def test_pods_that_leave_the_middle_of_a_heap_leave_nothing_behind() -> None:
    queue = make_queue()
    pods = [make_pod(name=f"p{number}") for number in range(200)]
    for _ in range(20):
        for pod in pods:
            queue.add(pod)
        for pod in pods:
            queue.delete(pod)
    entries = active_entries(queue)
    assert len(queue) == 0
    assert entries <= 64


def test_update_that_keeps_the_sort_key_keeps_the_place() -> None:
    profile = QueueProfile(sort_key=lambda _queued: 0)
    queue = make_queue(profiles={"default-scheduler": profile})
    first, second = make_pod(name="p1"), make_pod(name="p2")
    queue.add(first)
    queue.add(second)
    queue.update(first, replace(first, metadata=first.metadata), [])
    assert pod_names(queue.active()) == ["p1", "p2"]


def test_events_do_not_pile_up_behind_a_pod_in_flight() -> None:
    queue = make_queue()
    for _ in range(100):
        queue.add(make_pod())
        uid = pop(queue).pod.uid
        queue.move_all(FORCE_ACTIVATE)
        queue.done(uid)
    assert queue.in_flight_event_count == 0


def test_pod_that_comes_back_from_nowhere_backs_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue = make_queue(events={"A": []})
    queue.add(make_pod())
    queued = pop(queue)
    queue.done(queued.pod.uid)
    queued.unschedulable_plugins = frozenset({"A"})
    queue.add_unschedulable(queued)
    assert queued.queue is QueueName.BACKOFF
    assert "pod default/pod comes back, but was not in flight" in caplog.text


def test_record_has_the_queue_of_its_pod() -> None:
    queue = make_queue()
    queue.add(make_pod())
    queued = queue.get("default/pod")
    assert repr(queued) == "QueuedPod('default/pod', active, attempts=0)"
    assert repr(pop(queue)) == "QueuedPod('default/pod', in flight, attempts=1)"


def test_a_pod_long_in_flight_keeps_only_events_that_concern_it() -> None:
    queue = make_queue()
    queue.add(make_pod(name="long"))
    pop(queue)
    for number in range(10):
        queue.add(make_pod(name=f"p{number}"))
        uid = pop(queue).pod.uid
        queue.move_all(FORCE_ACTIVATE)
        queue.done(uid)
    assert queue.in_flight_event_count == 10
    queue.done(queue.in_flight[0])
    assert queue.in_flight_event_count == 0
