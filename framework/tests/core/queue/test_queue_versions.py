"""The differences between the queues of Kubernetes 1.37 and 1.36."""

import pytest
from msgspec.structs import replace

from quaymaster import ActionType, EventResource, Pod
from quaymaster.objects import ObjectMeta
from quaymaster.scheduler import QueueName
from quaymaster.testing import make_pod
from tests.kit.internals.queue import FORCE_ACTIVATE, NODE_ADD
from tests.kit.queue_rig import (
    ACTIVE,
    BACKOFF,
    NODE,
    NODE_ADDED,
    START,
    UNSCHEDULABLE,
    CountingGate,
    QueueRig,
    on,
    pod_names,
)

BOTH = pytest.mark.parametrize("version", ["1.36", "1.37"])


def has_uid(rig: QueueRig, name: str, uid: str) -> bool:
    queued = rig.queue.get(f"default/{name}")
    return queued is not None and queued.pod.uid == uid


def other_pod(name: str, *, nominated: str = "") -> Pod:
    """Return a pod of the same name that was created after the first was deleted."""
    return make_pod(name=name, uid="other", nominated_node=nominated)


# A pod in place of another one


@pytest.mark.parametrize(
    ("version", "timestamp", "attempts"),
    [("1.36", START, 1), ("1.37", START + 1.0, 0)],
)
def test_a_pod_in_place_of_another_one_has_no_history_of_it_since_1_37(
    version: str, timestamp: float, attempts: int
) -> None:
    rig = QueueRig(kubernetes=version)
    rig.add_rejected("p")
    rig.clock.advance(1.0)
    rig.store(other_pod("p"))
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert (queued.timestamp, queued.attempts) == (timestamp, attempts)


@pytest.mark.parametrize(("version", "held"), [("1.36", False), ("1.37", True)])
def test_gates_are_called_for_a_pod_in_place_of_another_one_since_1_37(
    version: str, held: bool
) -> None:
    gate = CountingGate()
    rig = QueueRig(gates={"G": gate}, kubernetes=version)
    rig.add("p")
    gate.blocked = {"p"}
    rig.store(other_pod("p"))
    assert rig.where("p") is (UNSCHEDULABLE if held else ACTIVE)


@pytest.mark.parametrize("where", [ACTIVE, BACKOFF, UNSCHEDULABLE])
@pytest.mark.parametrize("is_gated", [False, True], ids=["free", "gated"])
def test_a_name_is_in_one_queue_only_whatever_takes_it(
    where: QueueName, is_gated: bool
) -> None:
    gate = CountingGate()
    rig = QueueRig(gates={"G": gate}, kubernetes="1.37")
    if where is ACTIVE:
        rig.add("p")
    else:
        rig.add_rejected("p")
    if where is BACKOFF:
        rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is where
    gate.blocked = {"p"} if is_gated else set()
    rig.store(other_pod("p"))
    everywhere = [
        *rig.queue.active(),
        *rig.queue.backing_off(),
        *rig.queue.backing_off_after_error(),
        *rig.queue.unschedulable(),
    ]
    assert pod_names(everywhere) == ["p"]
    assert has_uid(rig, "p", "other")
    assert rig.where("p") is (UNSCHEDULABLE if is_gated else ACTIVE)


def test_a_replaced_pod_is_no_longer_nominated() -> None:
    rig = QueueRig(kubernetes="1.37")
    rig.add("p", nominated="n1")
    rig.store(other_pod("p", nominated="n2"))
    assert (rig.nominated("n1"), rig.nominated("n2")) == ([], ["p"])


def test_a_replaced_pod_in_flight_is_no_longer_nominated() -> None:
    rig = QueueRig(kubernetes="1.37")
    rig.add("p", nominated="n1")
    queued = rig.pop()
    rig.store(other_pod("p"))
    assert rig.nominated("n1") == []
    rig.reject(queued, "A")
    assert has_uid(rig, "p", "other")
    assert rig.where("p") is ACTIVE


def test_a_pod_that_comes_twice_is_queued_once() -> None:
    rig = QueueRig(kubernetes="1.37")
    pod = rig.add_rejected("p").pod
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.queue.add(pod)
    assert rig.where("p") is ACTIVE
    assert rig.queue.backing_off() == []


# Nominations


@pytest.mark.parametrize(("version", "pods"), [("1.36", []), ("1.37", ["p"])])
def test_a_gated_pod_keeps_the_node_that_it_is_nominated_to_since_1_37(
    version: str, pods: list[str]
) -> None:
    rig = QueueRig(gates={"G": CountingGate({"p"})}, kubernetes=version)
    rig.add("p", nominated="n1")
    assert rig.where("p") is UNSCHEDULABLE
    assert rig.nominated("n1") == pods


@BOTH
def test_a_pod_that_arrives_is_nominated_by_its_status(version: str) -> None:
    rig = QueueRig(kubernetes=version)
    rig.add("p", nominated="n1")
    assert rig.nominated("n1") == ["p"]


# Gated pods, and events for all pods


@pytest.mark.parametrize(
    ("version", "where"), [("1.36", UNSCHEDULABLE), ("1.37", ACTIVE)]
)
def test_an_event_for_all_pods_calls_the_gates_again_since_1_37(
    version: str, where: QueueName
) -> None:
    gate = CountingGate({"p"})
    rig = QueueRig(gates={"G": gate}, kubernetes=version)
    rig.add("p")
    gate.blocked.clear()
    rig.queue.move_all(FORCE_ACTIVATE)
    assert rig.where("p") is where


@pytest.mark.parametrize(
    ("version", "expected"), [("1.36", [0.0]), ("1.37", [0.0, 330.0, 660.0])]
)
def test_the_flush_calls_the_gates_every_five_minutes_since_1_37(
    version: str, expected: list[float]
) -> None:
    gate = CountingGate({"p"})
    rig = QueueRig(gates={"G": gate}, kubernetes=version)
    rig.add("p")
    times, calls = [0.0], 1
    for step in range(1, 25):
        rig.clock.advance(30.0)
        if len(gate.calls) > calls:
            times.append(step * 30.0)
            calls = len(gate.calls)
    assert times == expected


@pytest.mark.parametrize(("version", "was_flushed"), [("1.36", True), ("1.37", False)])
def test_a_pod_that_stays_gated_does_not_count_as_flushed_since_1_37(
    version: str, was_flushed: bool
) -> None:
    rig = QueueRig(gates={"G": CountingGate({"p"})}, kubernetes=version)
    rig.add("p")
    rig.clock.advance(360.0)
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert queued.was_flushed is was_flushed


# Events of nodes


@pytest.mark.parametrize(
    ("version", "where"), [("1.36", BACKOFF), ("1.37", UNSCHEDULABLE)]
)
def test_taints_wake_pods_that_wait_for_new_nodes_only_before_1_37(
    version: str, where: QueueName
) -> None:
    rig = QueueRig(events={"A": [NODE_ADDED]}, kubernetes=version)
    rig.add_rejected("p")
    event = on(EventResource.NODE, ActionType.UPDATE_NODE_TAINT).event
    rig.queue.move_all(event, NODE, NODE)
    assert rig.where("p") is where


# Names of events


@pytest.mark.parametrize(
    ("version", "arrival", "late", "update"),
    [
        (
            "1.36",
            "active|UnschedulablePodAdd",
            "active|UnschedulablePodUpdate",
            "backoff|UnschedulablePodUpdatePodLabel",
        ),
        (
            "1.37",
            "active|UnscheduledPodAdd",
            "active|UnscheduledPodAdd",
            "backoff|TargetPodUpdatePodLabel",
        ),
    ],
)
def test_the_causes_have_the_names_of_their_version(
    version: str, arrival: str, late: str, update: str
) -> None:
    relabelled = on(EventResource.POD, ActionType.UPDATE_POD_LABEL)
    rig = QueueRig(events={"A": [relabelled]}, kubernetes=version)
    pod = rig.add("p")
    assert rig.incoming() == {arrival: 1}
    rig.queue.delete(pod)
    rig.relabel("p")
    assert rig.incoming() == {late: 1}
    rig.reject(rig.pop(), "A")
    rig.incoming()
    rig.relabel("p")
    assert rig.incoming() == {update: 1}


@BOTH
@pytest.mark.parametrize(
    "resource",
    [
        EventResource.POD,
        EventResource.TARGET_POD,
        EventResource.UNSCHEDULABLE_POD,
    ],
)
def test_an_update_of_a_pod_reaches_it_under_each_event_name(
    resource: EventResource, version: str
) -> None:
    registered = on(resource, ActionType.UPDATE_POD_LABEL)
    rig = QueueRig(events={"A": [registered]}, kubernetes=version)
    rig.add_rejected("p")
    rig.relabel("p")
    assert rig.where("p") is BACKOFF


@BOTH
def test_an_update_of_a_pod_is_not_an_event_of_an_assigned_pod(
    version: str,
) -> None:
    registered = on(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_LABEL)
    rig = QueueRig(events={"A": [registered]}, kubernetes=version)
    rig.add_rejected("p")
    rig.relabel("p")
    assert rig.where("p") is UNSCHEDULABLE


@BOTH
def test_registration_for_all_updates_includes_a_pod_that_requests_more(
    version: str,
) -> None:
    registered = on(EventResource.POD, ActionType.UPDATE)
    rig = QueueRig(events={"A": [registered]}, kubernetes=version)
    pod = rig.add_rejected("p").pod
    more = make_pod(name="p", requests={"cpu": "2"})
    metadata = ObjectMeta(name="p", namespace="default", uid=pod.uid)
    rig.store(replace(more, metadata=metadata))
    assert rig.where("p") is BACKOFF
