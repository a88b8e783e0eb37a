"""Waiting patches of a pod's status are merged, and its bind drops them."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from quaymaster import Pod
from quaymaster.cluster import PodStatusPatch
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PodCondition
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.engine import PodPatches

T = TypeVar("T")


class Held:
    """Runs one task per call of ``work``."""

    def __init__(self) -> None:
        self._tasks: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []
        self.count = 0

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        assert not blocks
        self._tasks.append((task, done))

    def close(self) -> None:
        pass

    def work(self) -> None:
        while self._tasks:
            task, done = self._tasks.pop(0)
            self.count += 1
            done(task())


@pytest.fixture
def cluster() -> InMemoryCluster:
    cluster = InMemoryCluster(VirtualClock())
    cluster.create(make_node(name="n"))
    return cluster


def condition(kind: str, message: str) -> PodStatusPatch:
    said = PodCondition(type=kind, status="False", message=message)
    return PodStatusPatch(condition=said)


def test_last_condition_and_last_nomination_win(cluster: InMemoryCluster) -> None:
    executor = Held()
    patches = PodPatches(cluster, executor, VirtualClock())
    pod = cluster.create(make_pod(name="a"))
    patches.send(pod, condition("PodScheduled", "first"))
    for message in ("second", "third"):
        patches.send(pod, condition("PodScheduled", message))
    for node in ("m", "n"):
        patches.send(pod, PodStatusPatch(nominated_node_name=node))
    executor.work()
    stored = cluster.get(Pod, pod.key)
    assert executor.count == 2
    assert [condition.message for condition in stored.status.conditions] == ["third"]
    assert stored.status.nominated_node_name == "n"


def test_conditions_of_different_types_are_all_written(
    cluster: InMemoryCluster,
) -> None:
    executor = Held()
    patches = PodPatches(cluster, executor, VirtualClock())
    pod = cluster.create(make_pod(name="a"))
    for kind in ("PodScheduled", "DisruptionTarget", "PodScheduled"):
        patches.send(pod, condition(kind, kind))
    executor.work()
    stored = cluster.get(Pod, pod.key)
    assert {condition.type for condition in stored.status.conditions} == {
        "PodScheduled",
        "DisruptionTarget",
    }


def test_nothing_that_waits_is_written_once_the_pod_gets_its_node(
    cluster: InMemoryCluster,
) -> None:
    executor = Held()
    patches = PodPatches(cluster, executor, VirtualClock())
    pod, other = (cluster.create(make_pod(name=name)) for name in "ab")
    for patched in (pod, other):
        patches.send(patched, condition("PodScheduled", "first"))
        patches.send(patched, condition("PodScheduled", "second"))
    patches.drop(pod)
    executor.work()
    messages = [
        [each.message for each in cluster.get(Pod, patched.key).status.conditions]
        for patched in (pod, other)
    ]
    assert messages == [["first"], ["second"]]
