"""The flush of pods that wait for too long: which it moves, in which order."""

from collections.abc import Sequence
from typing import TypeAlias

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Pod
from tests.kit.internals.queue import (
    NODE_ADD,
    PlainFlushQueue,
    QueuedPod,
    SchedulingQueue,
    WaitStarts,
)
from tests.kit.queue_rig import NODE, CountingGate, QueueRig, pod_names

NAMES = ("a", "b", "c", "d")
STEP_KINDS = (
    *("add", "add", "pop", "pop", "reject", "reject", "fail"),
    *("wait", "wait", "wait", "gate", "gate", "relabel", "delete", "node"),
)
Step: TypeAlias = tuple[str, str, int]
STEPS = st.tuples(
    st.sampled_from(STEP_KINDS), st.sampled_from(NAMES), st.integers(0, 400)
)


@attrs.define(eq=False)
class Waiting:
    """A record of a name and a start."""

    key: str
    unhelped_since: float


class World:
    """A queue with one gate, and the pods that are being tried."""

    def __init__(
        self, queue: type[SchedulingQueue], version: str, own: Sequence[str] = ()
    ) -> None:
        self.gate = CountingGate()
        self.rig = QueueRig(
            gates={"First": lambda _pod: None, "G": self.gate},
            kubernetes=version,
            self_opening=own,
            queue=queue,
        )
        self.tried: list[QueuedPod] = []

    def take(self, step: Step) -> None:
        """Take one step, or none if it is impossible."""
        kind, name, number = step
        rig, pod = self.rig, self.rig.stored.get(f"default/{name}")
        if kind == "add" and pod is None:
            rig.add(name, priority=number % 2)
        elif kind == "pop":
            self.tried += filter(None, [rig.queue.pop()])
        elif kind in ("reject", "fail") and self.tried:
            queued = self.tried.pop(number % len(self.tried))
            if kind == "reject":
                rig.reject(queued, "AB"[number % 2])
            else:
                rig.error(queued)
        elif kind == "wait":
            rig.clock.advance(float(number))
        elif kind == "gate":
            self.gate.blocked ^= {name}
        elif kind == "relabel" and pod is not None:
            rig.relabel(name)
        elif kind == "delete" and pod is not None:
            del rig.stored[pod.key]
            rig.handlers.changed(Pod, pod, None)
        elif kind == "node":
            rig.queue.move_all(NODE_ADD, None, NODE)

    def view(self) -> object:
        """Return all that a reader of the queue sees."""
        queue = self.rig.queue
        pods = [*queue.active(), *queue.backing_off(), *queue.unschedulable()]
        return (
            self.rig.clock.now(),
            [
                list(map(attrs.astuple, filter(None, [queue.why_pending(pod.key)])))
                for pod in pods
            ],
            [pod.was_flushed for pod in pods],
            pod_names(list(queue)),
            sorted(queue.incoming.items()),
            queue.in_flight_event_count,
            list(self.gate.calls),
        )


@pytest.mark.parametrize("version", ["1.36", "1.37"])
@given(steps=st.lists(STEPS, max_size=40))
def test_a_flush_moves_what_a_pass_over_all_waiting_pods_moves(
    version: str, steps: Sequence[Step]
) -> None:
    world, plain = World(SchedulingQueue, version), World(PlainFlushQueue, version)
    for step in steps:
        world.take(step)
        plain.take(step)
        assert world.view() == plain.view(), step


@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.integers(0, 5), st.sampled_from("prl"))
    )
)
def test_late_records_come_in_order_of_arrival(
    steps: Sequence[tuple[str, int, str]],
) -> None:
    starts: WaitStarts[Waiting] = WaitStarts()
    # In order of arrival; a record that was late is late again after its next `put`.
    waiting: dict[str, Waiting] = {}
    seen: set[str] = set()
    for key, number, kind in steps:
        if kind == "p":
            record = waiting.setdefault(key, Waiting(key, 0.0))
            record.unhelped_since = float(number)
            starts.put(record)
            seen.discard(key)
        elif kind == "r":
            waiting.pop(key, None)
            seen.discard(key)
            starts.remove(key)
        else:
            late = [
                record
                for record in waiting.values()
                if record.unhelped_since < number and record.key not in seen
            ]
            assert list(starts.late(float(number))) == late
            seen |= {record.key for record in late}
        fresh = [
            record.unhelped_since
            for record in waiting.values()
            if record.key not in seen
        ]
        oldest = float("-inf") if seen else min(fresh, default=None)
        assert starts.oldest() == oldest


def test_a_flush_leaves_pods_alone_whose_plugin_opens_its_gates_itself() -> None:
    world = World(SchedulingQueue, "1.37", own=["G"])
    world.gate.blocked = {"a"}
    pod = world.rig.add("a")
    world.rig.clock.advance(3600.0)
    assert world.gate.calls == ["a"]
    assert world.rig.clock.next_due() is None
    world.gate.blocked = set()
    world.rig.queue.activate([pod])
    assert pod_names(world.rig.queue.active()) == ["a"]


def test_a_pod_that_its_plugin_passes_on_waits_for_the_flush_again() -> None:
    world = World(SchedulingQueue, "1.37", own=["G"])
    world.gate.blocked = {"a"}
    pod = world.rig.add("a")
    world.gate.blocked = set()
    world.rig.queue.activate([pod])
    queued = world.rig.pop()
    world.rig.reject(queued, "A")
    world.rig.clock.advance(330.0)
    assert pod_names(world.rig.queue.active()) == ["a"]
