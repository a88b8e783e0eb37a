"""Rules of upstream's scheduling queue, by number: pods that come, change and go."""

from msgspec.structs import replace

from quaymaster import (
    ActionType,
    EventResource,
)
from quaymaster.objects import PodResourceClaimStatus, PodSchedulingGate
from quaymaster.testing import make_pod
from tests.kit.internals.queue import (
    NODE_ADD,
)
from tests.kit.queue_rig import (
    ACTIVE,
    BACKOFF,
    NODE,
    NODE_ADDED,
    NODE_ADDED_SKIP,
    START,
    UNSCHEDULABLE,
    CountingGate,
    QueueRig,
    on,
    pod_names,
)


def test_rule_29_an_update_replaces_the_pod_and_its_place_and_calls_no_gate() -> None:
    gate = CountingGate()
    rig = QueueRig(gates={"G": gate})
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
    assert pod_names(rig.queue.active()) == ["p2", "p1"]
    assert queued.pod is newest
    assert queued.timestamp == START


def test_rule_29_an_update_moves_a_pod_within_backoff() -> None:
    rig = QueueRig()
    for name, priority in [("p1", 1), ("p2", 0)]:
        rig.add_rejected(name, priority=priority)
    rig.queue.move_all(NODE_ADD, None, NODE)
    second = rig.stored["default/p2"]
    rig.store(replace(second, spec=replace(second.spec, priority=2)))
    assert pod_names(rig.queue.backing_off()) == ["p2", "p1"]


def test_rule_29_an_update_of_a_pod_that_is_not_queued_adds_it() -> None:
    rig = QueueRig()
    pod = rig.add("p")
    rig.queue.delete(pod)
    rig.clock.advance(1.0)
    rig.incoming()
    rig.relabel("p")
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert (queued.timestamp, queued.attempts) == (START + 1, 0)
    assert rig.incoming() == {"active|UnschedulablePodUpdate": 1}


def test_rule_30_an_update_is_an_event_per_changed_property() -> None:
    wanted = ActionType.UPDATE_POD_TOLERATION
    wanted |= ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
    rig = QueueRig(events={"A": [on(EventResource.POD, wanted)]})
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
    rig = QueueRig()
    queued = rig.add_rejected("p")
    rig.clock.advance(1.0)
    rig.store(make_pod(name="p", uid="other"))
    assert rig.queue.get("default/p") is queued
    assert queued.pod.uid == "other"
    assert (queued.timestamp, queued.unschedulable_count) == (START, 1)


def test_rule_32_delete_takes_the_pod_out_by_name_and_leaves_it_in_flight() -> None:
    rig = QueueRig()
    pod = rig.add("p", nominated="n1")
    rig.pop()
    rig.queue.add(pod)
    rig.queue.delete(pod)
    assert rig.nominated("n1") == []
    assert len(rig.queue) == 0
    assert rig.queue.in_flight == [pod.uid]


def test_rule_33_a_new_active_pod_brings_its_nomination_a_gated_one_does_not() -> None:
    gate = CountingGate({"gated"})
    rig = QueueRig(events={"G": [NODE_ADDED]}, gates={"G": gate})
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


def test_rule_34_activate_calls_gates_but_no_hint_and_ignores_backoff() -> None:
    gate = CountingGate()
    rig = QueueRig(events={"A": [NODE_ADDED_SKIP]}, gates={"G": gate})
    first, second = rig.add_rejected("p1"), rig.add_rejected("p2")
    gate.blocked.add("p2")
    rig.incoming()
    rig.queue.activate([first.pod, second.pod])
    assert (rig.where("p1"), rig.where("p2")) == (ACTIVE, UNSCHEDULABLE)
    assert rig.incoming() == {"active|ForceActivate": 1}
