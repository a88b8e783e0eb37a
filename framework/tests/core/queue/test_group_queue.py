"""Groups in the scheduling queue: where their pods wait, and what moves them.

Mirrors the cases of groups in ``scheduling_queue_test.go`` (Kubernetes v1.37,
``pkg/scheduler/backend/queue``).
"""

import pytest

from quaymaster import Status
from quaymaster.scheduler import QueueName
from tests.kit.group_rig import GroupRig, members
from tests.kit.queue_rig import (
    ACTIVE,
    BACKOFF,
    ERROR_BACKOFF,
    UNSCHEDULABLE,
    CountingGate,
)

INCOMPLETE, PENDING = QueueName.INCOMPLETE, QueueName.PENDING


def rig_with(*names: str, min_count: int | None = None) -> GroupRig:
    rig = GroupRig()
    rig.add_group(min_count=min_count)
    rig.add(*names)
    return rig


# Arrival


def test_pod_without_the_object_of_its_group_is_incomplete() -> None:
    rig = GroupRig()
    rig.add("a")
    assert rig.where("a") is INCOMPLETE
    assert rig.queue.pop() is None


def test_object_of_the_group_moves_its_pods_into_one_record() -> None:
    rig = GroupRig()
    rig.add("a", "b")
    rig.add("other", group="other")
    rig.add_group()
    assert members(rig.group()) == ["a", "b"]
    assert (rig.where("a"), rig.where("other")) == (ACTIVE, INCOMPLETE)


def test_pods_of_a_group_are_popped_together_and_are_all_in_flight() -> None:
    rig = rig_with("b", "a")
    group = rig.pop_group()
    assert members(group) == ["b", "a"]
    assert len(rig.queue.in_flight) == 2
    assert [group.attempts, *(queued.attempts for queued in group.pods)] == [1, 1, 1]
    assert len(rig.queue) == 0


def test_pods_outside_groups_are_queued_as_before() -> None:
    rig = GroupRig()
    rig.add("single", group=None)
    assert rig.where("single") is ACTIVE
    assert rig.pop_pod().pod.name == "single"


def test_group_below_its_quorum_is_gated_until_the_last_pod_arrives() -> None:
    rig = rig_with("a", "b", min_count=3)
    assert rig.where("a") is UNSCHEDULABLE
    assert rig.group().gating_plugin == "Quorum"
    rig.add("c")
    assert rig.where("a") is ACTIVE
    assert members(rig.pop_group()) == ["a", "b", "c"]


def test_lower_quorum_releases_a_gated_group() -> None:
    rig = rig_with("a", "b", min_count=3)
    rig.add_group(min_count=4)
    assert rig.where("a") is UNSCHEDULABLE
    rig.add_group(min_count=2)
    assert rig.where("a") is ACTIVE


def test_bound_pods_count_for_the_quorum() -> None:
    rig = rig_with("a", min_count=2)
    rig.add("b")
    rig.end(rig.pop_group(), scheduled=["a", "b"])
    rig.bind("a", "b")
    rig.add("c")
    assert members(rig.pop_group()) == ["c"]


# New pods of a queued group


def test_pod_joins_the_active_group() -> None:
    rig = rig_with("a")
    rig.add("b")
    assert members(rig.group()) == ["a", "b"]
    assert rig.where("b") is ACTIVE


def test_pod_joins_the_group_in_backoff_and_does_not_shorten_it() -> None:
    rig = rig_with("a")
    rig.reject(rig.pop_group())
    rig.add("b")
    assert (rig.where("a"), rig.where("b")) == (ERROR_BACKOFF, ERROR_BACKOFF)
    assert rig.queue.pop() is None
    rig.wait(2.0)
    assert members(rig.pop_group()) == ["a", "b"]


def test_pod_that_joins_after_the_end_of_the_backoff_makes_the_group_active() -> None:
    rig = rig_with("a")
    rig.reject(rig.pop_group())
    rig.queue.rest(True)
    rig.wait(2.0)
    assert rig.where("a") is ERROR_BACKOFF
    rig.add("b")
    assert (rig.where("a"), rig.where("b")) == (ACTIVE, ACTIVE)


def test_pod_of_the_group_in_flight_waits_until_its_attempt_is_over() -> None:
    rig = rig_with("a")
    group = rig.pop_group()
    rig.add("b")
    assert rig.where("b") is PENDING
    rig.end(group, scheduled=["a"])
    assert members(rig.group()) == ["b"]
    assert rig.where("b") is ACTIVE


def test_gate_of_a_new_pod_holds_the_group_back() -> None:
    gate = CountingGate({"b"})
    rig = GroupRig(gates={"Gates": gate})
    rig.add_group()
    rig.add("a", "b")
    assert (rig.where("a"), rig.where("b")) == (UNSCHEDULABLE, UNSCHEDULABLE)
    assert rig.group().gating_plugin == "Gates"
    gate.blocked.clear()
    rig.relabel("a")
    assert (rig.where("a"), rig.where("b")) == (ACTIVE, ACTIVE)


def test_gates_are_called_for_every_pod_even_after_one_is_gated() -> None:
    gate = CountingGate({"a"})
    rig = GroupRig(gates={"Gates": gate})
    rig.add("a", "b", "c")
    rig.add_group()
    gate.calls.clear()
    rig.queue.activate([rig.group().pods[0].pod])
    assert gate.calls == ["a", "b", "c"]


# After an attempt


def test_group_ends_when_all_pods_have_a_node() -> None:
    rig = rig_with("a", "b")
    rig.end(rig.pop_group(), scheduled=["a", "b"])
    assert rig.queue.group("default/gang") is None
    assert rig.queue.in_flight == []


def test_leftovers_of_a_success_are_active_at_once_and_keep_their_place() -> None:
    rig = rig_with("a", "b")
    group = rig.pop_group()
    since = group.timestamp
    rig.clock.advance(5.0)
    rig.end(group, scheduled=["a"])
    left = rig.group()
    assert (members(left), rig.where("b")) == (["b"], ACTIVE)
    assert left.timestamp == since
    assert (left.attempts, left.unschedulable_count) == (1, 0)


def test_success_without_failed_pods_renews_the_place_of_new_pods() -> None:
    rig = rig_with("a")
    group = rig.pop_group()
    rig.clock.advance(5.0)
    rig.add("b")
    rig.end(group, scheduled=["a"])
    assert rig.group().timestamp == rig.clock.now()


def test_success_resets_the_counts_of_failures() -> None:
    rig = rig_with("a", "b")
    rig.reject(rig.pop_group())
    rig.wait(2.0)
    rig.end(rig.pop_group(), Status.from_error("oh"))
    assert rig.group().consecutive_errors_count == 1
    rig.wait(3.0)
    rig.end(rig.pop_group(), scheduled=["a"])
    left = rig.group()
    assert (left.unschedulable_count, left.consecutive_errors_count) == (0, 0)


def test_rejected_group_backs_off_and_is_never_popped_early() -> None:
    rig = rig_with("a")
    rig.reject(rig.pop_group())
    assert rig.where("a") is ERROR_BACKOFF
    assert rig.queue.pop() is None
    assert rig.group().unschedulable_count == 1


def test_rejected_group_is_not_woken_by_the_events_of_its_pods_rejectors() -> None:
    rig = rig_with("a")
    rig.end(rig.pop_group(), Status.unschedulable("no"), plugin="Quorum")
    rig.add("b")
    assert rig.where("a") is ERROR_BACKOFF


def test_backoff_doubles_up_to_the_limit_times_the_root_of_the_number_of_pods() -> None:
    rig = GroupRig(initial=1.0, longest=2.0)
    rig.add_group()
    rig.add("a", "b", "c", "d")
    waits = []
    for _ in range(5):
        rig.reject(rig.pop_group())
        end = rig.group().backoff_expiration
        assert end is not None
        waits.append(end - rig.clock.now())
        rig.wait(waits[-1] + 1.0)
    assert waits == [1.0, 2.0, 4.0, 4.0, 4.0]


def test_errors_in_a_row_decide_the_backoff_until_a_rejection() -> None:
    rig = rig_with("a")
    for status in (Status.unschedulable(), Status.from_error("oh")):
        rig.end(rig.pop_group(), status)
        rig.wait(5.0)
    rig.end(rig.pop_group(), Status.unschedulable())
    group = rig.group()
    assert (group.unschedulable_count, group.consecutive_errors_count) == (2, 0)


def test_group_whose_object_was_deleted_during_its_attempt_is_incomplete() -> None:
    rig = rig_with("a", "b")
    group = rig.pop_group()
    rig.add("c")
    rig.delete_group()
    rig.reject(group)
    assert {rig.where(name) for name in "abc"} == {INCOMPLETE}


def test_pod_whose_binding_failed_joins_its_group_again() -> None:
    rig = rig_with("a", "b")
    group = rig.pop_group()
    late = group.pods[0]
    rig.queue.done(group.pods[1].pod.uid)
    rig.queue.add_attempted_group(group)
    assert rig.queue.group("default/gang") is None
    rig.fail(late)
    assert members(rig.group()) == ["a"]
    assert rig.where("a") is ACTIVE


def test_pods_left_over_that_are_still_in_flight_are_requeued() -> None:
    rig = rig_with("a", "b")
    group = rig.pop_group()
    rig.queue.done(group.pods[1].pod.uid)
    rig.queue.add_attempted_group(group, group.pods, Status.unschedulable())
    assert members(rig.group()) == ["a"]
    assert rig.queue.in_flight == []


def test_attempt_with_a_group_that_is_queued_again_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = rig_with("a")
    group = rig.pop_group()
    rig.end(group, Status.unschedulable())
    rig.queue.add_attempted_group(rig.group(), (), Status.unschedulable())
    assert rig.group().unschedulable_count == 1
    assert "is in the queue already" in caplog.text


# Order


def test_groups_and_pods_share_one_order_by_priority_and_time() -> None:
    rig = GroupRig()
    for name, priority in (("low", 1), ("high", 9), ("same", 5)):
        rig.add_group(name, priority=priority)
        rig.add(f"{name}-0", group=name)
        rig.add(f"pod-{priority}", group=None, priority=priority)
        rig.clock.advance(1.0)
    rig.add_group("late", priority=5)
    rig.add("late-0", group="late")
    order = ["high", "pod-9", "same", "pod-5", "late", "low", "pod-1"]
    names = {queued.pod.name for queued in rig.queue.active()}
    assert names == {"high-0", "low-0", "same-0", "late-0", "pod-1", "pod-5", "pod-9"}
    assert [rig.popped() for _ in order] == order


def test_active_pods_are_listed_in_the_order_of_their_attempts() -> None:
    rig = GroupRig()
    rig.add("first", "last", group=None)
    rig.add_group(priority=5)
    rig.add("b", "a")
    rig.add_group("small")
    rig.add("c", group="small")
    names = [queued.pod.name for queued in rig.queue.active()]
    assert names == ["b", "a", "first", "last", "c"]


def test_group_is_sorted_by_its_object_and_not_by_its_pods() -> None:
    rig = GroupRig()
    rig.add("single", group=None, priority=5)
    rig.add_group(priority=1)
    rig.add("a", priority=100)
    assert [rig.popped(), rig.popped()] == ["single", "gang"]


def test_pod_in_backoff_is_not_popped_early_while_a_group_is_active() -> None:
    rig = GroupRig(events={"Fit": ()})
    rig.add("single", group=None)
    rig.fail(rig.pop_pod(), "Quorum")
    rig.add("other", group=None)
    rig.queue.activate([])
    rig.add_group()
    rig.add("a")
    assert rig.queue.peek() is not None
    assert [rig.popped(), rig.popped()] == ["other", "gang"]


# Changes and deletions


def test_deleted_pod_leaves_the_others_in_the_queue_of_their_group() -> None:
    rig = rig_with("a", "b")
    rig.delete("a")
    assert members(rig.group()) == ["b"]
    assert (rig.where("a"), rig.where("b")) == (None, ACTIVE)


def test_group_ends_with_its_last_pod() -> None:
    rig = rig_with("a")
    rig.delete("a")
    assert rig.queue.group("default/gang") is None
    assert rig.queue.pop() is None


def test_deletion_at_the_quorum_leaves_the_group_active() -> None:
    # As upstream: the deleted pod is still counted when its group is requeued.
    rig = rig_with("a", "b", min_count=2)
    rig.delete("a")
    assert rig.where("b") is ACTIVE


@pytest.mark.parametrize("name", ["gated", "incomplete", "pending"])
def test_deleted_pod_leaves_every_place(name: str) -> None:
    rig = GroupRig()
    if name != "incomplete":
        rig.add_group(min_count=3 if name == "gated" else None)
    if name == "pending":
        rig.add("x")
        rig.pop_group()
    rig.add("a", "b")
    rig.delete("a")
    assert rig.where("a") is None
    assert rig.where("b") is not None
    rig.delete("b")
    assert len(rig.queue) == 0


def test_pod_deleted_during_the_attempt_is_not_requeued() -> None:
    rig = rig_with("a", "b")
    group = rig.pop_group()
    rig.delete("a")
    rig.reject(group)
    assert members(rig.group()) == ["b"]
    assert rig.queue.in_flight == []


def test_deleted_object_makes_the_pods_incomplete_until_the_next_one() -> None:
    rig = rig_with("a", "b")
    rig.delete_group()
    assert rig.where("a") is INCOMPLETE
    rig.add("c")
    rig.add_group()
    assert members(rig.group()) == ["a", "b", "c"]


@pytest.mark.parametrize("place", ["active", "backoff", "gated", "incomplete"])
def test_changed_pod_is_replaced_in_every_place(place: str) -> None:
    rig = GroupRig()
    if place != "incomplete":
        rig.add_group(min_count=2 if place == "gated" else None)
    rig.add("a")
    if place == "backoff":
        rig.reject(rig.pop_group())
    rig.relabel("a")
    queued = rig.queue.get("default/a")
    assert queued is not None
    assert queued.pod.labels.keys() == {"version"}
    expected = {"active": ACTIVE, "backoff": ERROR_BACKOFF, "gated": UNSCHEDULABLE}
    assert rig.where("a") is expected.get(place, INCOMPLETE)


def test_change_during_the_attempt_reaches_the_requeued_pod() -> None:
    rig = rig_with("a")
    group = rig.pop_group()
    rig.relabel("a")
    rig.reject(group)
    assert rig.group().pods[0].pod.labels.keys() == {"version"}


def test_nominations_of_pods_of_groups_count_until_they_are_deleted() -> None:
    rig = GroupRig()
    rig.add("a", nominated="n1")
    assert [pod.name for pod in rig.queue.nominator.pods_on("n1")] == ["a"]
    rig.add_group()
    rig.delete("a")
    assert rig.queue.nominator.is_empty


# Wake-ups


def test_activating_a_pod_activates_its_whole_group() -> None:
    rig = rig_with("a", "b")
    rig.reject(rig.pop_group())
    rig.queue.activate([rig.group().pods[1].pod])
    assert (rig.where("a"), rig.where("b")) == (ACTIVE, ACTIVE)


def test_activating_a_pod_of_a_gated_group_calls_the_gates_again() -> None:
    rig = rig_with("a", min_count=2)
    rig.queue.activate([rig.group().pods[0].pod])
    assert rig.where("a") is UNSCHEDULABLE


def test_gated_group_is_asked_again_after_five_minutes() -> None:
    gate = CountingGate({"a"})
    rig = GroupRig(gates={"Gates": gate})
    rig.add_group()
    rig.add("a", "b")
    gate.calls.clear()
    rig.wait(331.0)
    assert gate.calls == ["a", "b"]
    assert rig.where("a") is UNSCHEDULABLE
    gate.blocked.clear()
    rig.wait(331.0)
    assert rig.where("a") is ACTIVE


def test_events_of_other_groups_do_not_wake_a_gated_group() -> None:
    rig = rig_with("a", min_count=2)
    rig.quorum.calls.clear()
    rig.add_group("other", min_count=9)
    rig.add("x", group="other")
    assert "a" not in rig.quorum.calls


def test_every_retry_of_an_unchanged_group_settles_it() -> None:
    rig = rig_with("a")
    group = rig.pop_group()
    rig.progress.note_attempt(group)
    rig.reject(group)
    assert all(map(rig.progress.is_settled, rig.queue.records()))
    rig.add("single", group=None)
    assert not rig.progress.is_settled(rig.group())


def test_gated_and_incomplete_groups_are_settled() -> None:
    rig = rig_with("a", min_count=2)
    rig.add("x", group="other")
    assert all(map(rig.progress.is_settled, rig.queue.records()))


def test_lengths_count_every_pod_once() -> None:
    rig = rig_with("a", "b")
    rig.add_group("large", min_count=2)
    rig.add("c", group="large")
    rig.add("d", group="other")
    rig.add("e", group=None)
    lengths = rig.queue.lengths()
    assert (lengths.active, lengths.backoff, lengths.unschedulable) == (3, 0, 2)
    assert len(rig.queue) == len(list(rig.queue)) == 5
    assert all(queued.key in rig.queue for queued in rig.queue)
    assert BACKOFF not in {queued.queue for queued in rig.queue}


# Why a pod is pending


def why(rig: GroupRig, name: str) -> tuple[str, str]:
    pending = rig.queue.why_pending(f"default/{name}")
    assert pending is not None
    return pending.gated_by, pending.message


def test_incomplete_pod_says_which_group_it_waits_for() -> None:
    rig = GroupRig()
    rig.add("a")
    message = "waits for PodGroup default/gang, which does not exist"
    assert why(rig, "a") == ("", message)


def test_gated_pod_says_the_message_of_its_gate() -> None:
    rig = rig_with("a", min_count=2)
    assert why(rig, "a") == ("Quorum", "waiting for minCount pods")


def test_pod_held_back_by_another_pod_of_its_group_names_it() -> None:
    rig = GroupRig(gates={"Gates": CountingGate({"b"})})
    rig.add_group()
    rig.add("a", "b")
    assert why(rig, "a") == ("Gates", "waits for pod default/b of its group")


def test_pod_of_the_group_in_flight_waits_for_its_attempt() -> None:
    rig = rig_with("a")
    rig.pop_group()
    rig.add("b")
    assert why(rig, "b")[1] == (
        "waits for the end of the attempt with PodGroup default/gang"
    )


def test_pod_in_backoff_names_its_group_and_the_time_of_the_retry() -> None:
    rig = rig_with("a")
    rig.reject(rig.pop_group())
    pending = rig.queue.why_pending("default/a")
    assert pending is not None
    assert (pending.group, pending.gated_by) == ("default/gang", "")
    assert pending.retry_at == rig.clock.now() + 2.0


# Traces


def test_trace_has_a_line_for_each_pod_that_moves() -> None:
    lines: list[str] = []
    rig = GroupRig(lines=lines)
    rig.add_group(min_count=2)
    rig.add("a", "b")
    rig.reject(rig.pop_group())
    rig.delete("a")
    moves = [line.split(" event=")[1] for line in lines if "event=hint" not in line]
    add, failed = "cause=UnscheduledPodAdd", "cause=ScheduleAttemptFailure"
    gated = "gated_by=Quorum rejected_by=Quorum"
    backoff = f'queue="error backoff" {failed} rejected_by=Fit attempts=1'
    assert [move.replace("group=default/gang ", "") for move in moves] == [
        f"enter pod=default/a queue=unschedulable {add} {gated} attempts=0",
        f"enter pod=default/b queue=unschedulable {add} gated_by=Quorum attempts=0",
        f"enter pod=default/a queue=active {add} rejected_by=Quorum attempts=0",
        f"enter pod=default/b queue=active {add} attempts=0",
        "pop pod=default/a attempt=1",
        "pop pod=default/b attempt=1",
        f"enter pod=default/a {backoff}",
        f"enter pod=default/b {backoff}",
        "delete pod=default/a group=default/gang",
    ]
