"""The queue with trees of groups: a tree is one entry."""

import pytest

from quaymaster.scheduler import QueueName
from tests.kit.group_rig import GroupRig, members

INCOMPLETE, PENDING = QueueName.INCOMPLETE, QueueName.PENDING


@pytest.fixture
def rig() -> GroupRig:
    rig = GroupRig(trees=True)
    rig.add_composite("root", priority=5)
    rig.add_group("left", parent="root")
    rig.add_group("right", parent="root")
    return rig


def test_pods_of_all_groups_of_a_tree_are_tried_together(rig: GroupRig) -> None:
    rig.add("r0", group="right")
    rig.add("l0", "l1", group="left")
    group = rig.pop_group()
    assert group.key == "compositepodgroup/default/root"
    assert members(group) == ["l0", "l1", "r0"]
    assert rig.queue.pop() is None


def test_tree_is_sorted_by_the_priority_of_its_root(rig: GroupRig) -> None:
    rig.add("single", group=None, priority=4)
    rig.add("l0", group="left")
    assert rig.pop_group().group.name == "root"
    assert rig.pop_pod().pod.name == "single"


def test_pods_are_incomplete_while_a_group_above_is_missing() -> None:
    rig = GroupRig(trees=True)
    rig.add_group("leaf", parent="middle")
    rig.add_composite("root")
    rig.add("p", group="leaf")
    assert rig.where("p") is INCOMPLETE
    pending = rig.queue.why_pending("default/p")
    assert pending is not None
    missing = "CompositePodGroup default/middle"
    assert pending.message == f"waits for {missing}, which does not exist"
    rig.add_composite("middle", parent="root")
    assert members(rig.pop_group()) == ["p"]


def test_pods_below_a_circle_of_groups_say_so() -> None:
    rig = GroupRig(trees=True)
    rig.add_composite("one", parent="two")
    rig.add_composite("two", parent="one")
    rig.add_group("leaf", parent="one")
    rig.add("p", group="leaf")
    assert rig.where("p") is INCOMPLETE
    pending = rig.queue.why_pending("default/p")
    assert pending is not None
    assert pending.message == (
        "the CompositePodGroups above PodGroup default/leaf are parents of each other"
    )


def test_deleted_root_sends_all_pods_back(rig: GroupRig) -> None:
    rig.add("l0", group="left")
    rig.add("r0", group="right")
    rig.delete_composite("root")
    assert [rig.where(name) for name in ("l0", "r0")] == [INCOMPLETE] * 2
    rig.add_composite("root")
    assert members(rig.pop_group()) == ["l0", "r0"]


def test_deleted_group_leaves_the_other_groups_queued(rig: GroupRig) -> None:
    rig.add("l0", group="left")
    rig.add("r0", group="right")
    rig.delete_group("left")
    assert rig.where("l0") is INCOMPLETE
    assert members(rig.pop_group()) == ["r0"]


def test_pods_that_come_during_the_attempt_wait_for_its_end(rig: GroupRig) -> None:
    rig.add("l0", group="left")
    group = rig.pop_group()
    rig.add("r0", group="right")
    assert rig.where("r0") is PENDING
    rig.end(group, scheduled=["l0"])
    assert members(rig.pop_group()) == ["r0"]


def test_group_deleted_during_the_attempt_keeps_its_pods_out(rig: GroupRig) -> None:
    rig.add("l0", group="left")
    group = rig.pop_group()
    rig.add("r0", "r1", group="right")
    rig.delete_group("right")
    assert [rig.where(name) for name in ("r0", "r1")] == [INCOMPLETE] * 2
    rig.reject(group)
    assert rig.where("l0") is QueueName.ERROR_BACKOFF


def test_attempt_counts_for_the_whole_tree(rig: GroupRig) -> None:
    rig.add("l0", group="left")
    rig.add("r0", group="right")
    rig.reject(rig.pop_group())
    record = rig.group("left")
    assert record is rig.group("right")
    assert (record.attempts, record.unschedulable_count) == (1, 1)
    assert [queued.attempts for queued in record.pods] == [1, 1]
