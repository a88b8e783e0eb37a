"""Rules of upstream's scheduling queue, by number: nominations, and who is first."""

from msgspec.structs import replace

from quaymaster import (
    NominatingInfo,
    NominatingMode,
)
from tests.kit.internals.queue import (
    NODE_ADD,
)
from tests.kit.queue_rig import ACTIVE, CLEAR, NODE, UNSCHEDULABLE, QueueRig, pod_names


def test_rule_35_a_new_nomination_replaces_the_old_one_if_the_pod_is_pending() -> None:
    rig = QueueRig()
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
    rig = QueueRig()
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
    rig = QueueRig()
    rig.add("p", nominated="n1")
    rig.reject(rig.pop(), "A", nominating=CLEAR)
    assert rig.queue.nominator.nodes() == ()
    status = replace(rig.stored["default/p"].status, nominated_node_name="")
    rig.store(replace(rig.stored["default/p"], status=status))
    assert rig.queue.nominator.nodes() == ()


def test_rule_38_active_pods_come_by_priority_then_by_timestamp() -> None:
    rig = QueueRig()
    for name, priority in [("p1", 0), ("p2", 5), ("p3", 0), ("p4", 5)]:
        rig.add(name, priority=priority)
        rig.clock.advance(0.25)
    again = rig.pop()
    assert again.pod.name == "p2"
    rig.reject(again, pending=["A"])
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert pod_names(rig.queue.active()) == ["p4", "p2", "p1", "p3"]


def test_rule_39_the_flush_takes_pods_that_are_strictly_older_than_the_limit() -> None:
    rig = QueueRig(limit=60.0)
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


def test_a_resting_queue_flushes_nothing_and_then_goes_on() -> None:
    rig = QueueRig(limit=60.0)
    late = rig.add_rejected("late")
    rig.queue.rest(True)
    young = rig.add_rejected("young")
    rig.clock.advance(600.0)
    assert late.queue is young.queue is UNSCHEDULABLE
    rig.queue.rest(False)
    assert late.queue is UNSCHEDULABLE  # until the next of upstream's flushes
    rig.clock.advance(30.0)
    assert late.queue is young.queue is ACTIVE
