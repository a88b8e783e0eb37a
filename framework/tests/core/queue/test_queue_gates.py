"""Rules of upstream's scheduling queue, by number: pods that are held back."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from quaymaster import (
    ActionType,
    ClusterEventWithHint,
    EventResource,
    Pod,
    Status,
)
from quaymaster.scheduler import QueueName
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
)


def test_rule_23_the_last_gate_is_called_first_and_the_first_rejection_ends_it() -> (
    None
):
    order: list[str] = []
    closed = {"G2"}

    def gate(name: str) -> Callable[[Pod], Status | None]:
        def ask(_pod: Pod) -> Status | None:
            order.append(name)
            return Status.unschedulable() if name in closed else None

        return ask

    rig = QueueRig(gates={name: gate(name) for name in ("G1", "G2", "G3")})
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
def test_rule_24_only_events_that_its_gate_registered_reach_a_gated_pod(
    events: Mapping[str, Sequence[ClusterEventWithHint]], queue: QueueName
) -> None:
    gate = CountingGate()
    rig = QueueRig(events=events, gates={"G": gate})
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
    gates = {"G": CountingGate({"p"}), "W": CountingGate({"q"})}
    rig = QueueRig(
        events={"G": [NODE_ADDED], "W": [everything]}, gates=gates, limit=60.0
    )
    rig.add("p")
    rig.add("q")
    gates["W"].blocked.clear()
    rig.clock.advance(90.0)
    assert (rig.where("p"), rig.where("q")) == (UNSCHEDULABLE, ACTIVE)
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert queued.was_flushed


def test_rule_24_an_option_makes_the_flush_call_gates_as_later_versions_do() -> None:
    gate = CountingGate({"p"})
    rig = QueueRig(events={"G": []}, gates={"G": gate}, limit=60.0, flush_gated=True)
    rig.add("p")
    queued = rig.queue.get("default/p")
    assert queued is not None
    rig.clock.advance(90.0)
    assert gate.calls == ["p", "p"]
    assert queued.queue is UNSCHEDULABLE
    assert not queued.was_flushed
    rig.clock.advance(60.0)
    assert gate.calls == ["p", "p"], "it has been asked less than 60 seconds ago"
    gate.blocked.clear()
    rig.clock.advance(30.0)
    assert queued.queue is ACTIVE
    assert queued.was_flushed
    assert queued.timestamp == START, "its place in the queue stays"


def test_rule_25_updates_of_a_gated_pod_reach_all_of_its_plugins() -> None:
    gate = CountingGate()
    relabelled = on(EventResource.POD, ActionType.UPDATE_POD_LABEL)
    rig = QueueRig(events={"G": [], "A": [relabelled]}, gates={"G": gate})
    queued = rig.add_rejected("p")
    rig.clock.advance(60.0)
    gate.blocked.add("p")
    rig.queue.activate([queued.pod])
    gate.blocked.clear()
    rig.relabel("p")
    assert queued.queue is ACTIVE


def test_rule_26_a_gated_pod_that_was_never_tried_needs_no_backoff() -> None:
    gate = CountingGate({"new", "tried"})
    rig = QueueRig(events={"G": [NODE_ADDED], "A": []}, gates={"G": gate})
    rig.add("new")
    gate.blocked.discard("tried")
    tried = rig.add_rejected("tried")
    gate.blocked.add("tried")
    rig.queue.activate([tried.pod])
    gate.blocked.clear()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert (rig.where("new"), rig.where("tried")) == (ACTIVE, BACKOFF)


def test_rule_27_only_a_pod_that_an_event_moved_counts_when_it_is_gated_again() -> None:
    gates = {"G": CountingGate({"p"}), "H": CountingGate()}
    rig = QueueRig(events={"G": [NODE_ADDED], "H": [NODE_ADDED]}, gates=gates)
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
    gate = CountingGate({"p"})
    rig = QueueRig(events={"G": [NODE_ADDED]}, gates={"G": gate})
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
