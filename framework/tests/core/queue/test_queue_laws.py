"""Invariants of the queue under any changes, in both versions of Kubernetes."""

from collections.abc import Sequence
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import NominatingInfo, NominatingMode, Pod
from quaymaster.config import KUBERNETES_VERSIONS
from quaymaster.testing import make_pod
from tests.kit.internals.queue import NODE_ADD, QueuedPod
from tests.kit.queue_rig import NODE, CountingGate, QueueRig

NAMES = ("a", "b")
NODES = ("", "n1", "n2")

Step: TypeAlias = tuple[str, str, int]

STEPS = st.tuples(
    st.sampled_from(
        (
            "replace",
            "replace",
            "relabel",
            "delete",
            "pop",
            "pop",
            "reject",
            "fail",
            "hear of a node",
            "wait",
            "gate",
            "gate",
            "activate",
        )
    ),
    st.sampled_from(NAMES),
    st.integers(0, 400),
)


class World:
    """A queue, its pods, and those that are being tried."""

    def __init__(self, version: str) -> None:
        self.gate = CountingGate()
        self.rig = QueueRig(gates={"G": self.gate}, limit=300.0, kubernetes=version)
        self.held: list[QueuedPod] = []
        self.uids = 0

    def take(self, step: Step) -> None:
        """Take one step, or none if it is impossible."""
        what, name, number = step
        pod = self.rig.stored.get(f"default/{name}")
        if what == "replace":
            self._replace(name, number)
        elif what in ("relabel", "delete", "activate"):
            if pod is not None:
                self._touch(what, pod)
        elif what in ("reject", "fail"):
            if self.held:
                self._fail(what, number)
        else:
            self._go_on(what, name, number)

    def _go_on(self, what: str, name: str, number: int) -> None:
        if what == "pop":
            self.held += filter(None, [self.rig.queue.pop()])
        elif what == "wait":
            self.rig.clock.advance(float(number))
        elif what == "gate":
            self.gate.blocked ^= {name}
        else:
            self.rig.queue.move_all(NODE_ADD, None, NODE)

    def _touch(self, what: str, pod: Pod) -> None:
        if what == "relabel":
            self.rig.relabel(pod.name)
        elif what == "activate":
            self.rig.queue.activate([pod])
        else:
            del self.rig.stored[pod.key]
            self.rig.handlers.changed(Pod, pod, None)

    def _replace(self, name: str, number: int) -> None:
        """Add another pod, which replaces a pod of the same name if any."""
        self.uids += 1
        nominated = NODES[number % len(NODES)]
        self.rig.store(
            make_pod(
                name=name,
                uid=f"{name}-{self.uids}",
                nominated_node=nominated,
                priority=number % 2,
            )
        )

    def _fail(self, what: str, number: int) -> None:
        queued = self.held.pop(number % len(self.held))
        if what == "fail":
            self.rig.error(queued)
            return
        node = NODES[number % len(NODES)]
        nominating = NominatingInfo(node, NominatingMode.OVERRIDE)
        self.rig.reject(queued, "A", nominating=nominating)


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@given(steps=st.lists(STEPS, max_size=40))
def test_every_pod_is_queued_once_or_tried(version: str, steps: Sequence[Step]) -> None:
    world = World(version)
    queue, stored = world.rig.queue, world.rig.stored
    for step in steps:
        world.take(step)
        everywhere = [
            *queue.active(),
            *queue.backing_off(),
            *queue.backing_off_after_error(),
            *queue.unschedulable(),
        ]
        queued = sorted(record.pod.uid for record in everywhere)
        tried = {pod.uid for pod in stored.values()} & set(queue.in_flight)
        assert sorted([*queued, *tried]) == sorted(pod.uid for pod in stored.values())
        assert (
            len({record.key for record in everywhere}) == len(everywhere) == len(queue)
        )


@given(steps=st.lists(STEPS, max_size=40))
def test_only_existing_pods_are_nominated_since_1_37(
    steps: Sequence[Step],
) -> None:
    world = World("1.37")
    for step in steps:
        world.take(step)
        nominations = world.rig.queue.nominator.by_node().values()
        nominated = {pod.uid for pods in nominations for pod in pods}
        assert nominated <= {pod.uid for pod in world.rig.stored.values()}
