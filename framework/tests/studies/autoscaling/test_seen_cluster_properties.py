"""What the cluster autoscaler keeps of a cluster equals what a new reader sees."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.cluster import PodStatusPatch
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import NodeCondition, PodCondition, Taint, Time
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.autoscaling import (
    Cloud,
    ClusterAutoscalerOptions,
    ScaledGroup,
    SeenCluster,
    SeenNode,
    SeenPod,
)

pytestmark = pytest.mark.long

BOOT: Final = "boot"
OPTIONS: Final = ClusterAutoscalerOptions(startup_taints=(BOOT,))
TAINTS: Final = (BOOT, "DeletionCandidateOfClusterAutoscaler", "other")
GROUPS: Final = ("a", "b")
NAMES: Final = tuple(f"n{number}" for number in range(6))
PODS: Final = tuple(f"p{number}" for number in range(8))
UNSCHEDULABLE: Final = PodCondition(
    type="PodScheduled", status="False", reason="Unschedulable"
)
CHANGES: Final[dict[str, Callable[["World", str, int], None]]] = {}


class World:
    """A cluster with groups, and what is kept of it."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = InMemoryCluster(self.clock, kubelet=False, controllers=False)
        template = make_node(name="template")
        self.cloud = Cloud(
            self.cluster,
            [
                ScaledGroup(
                    name=name,
                    max_size=20,
                    template=template,
                    registration_seconds=5.0 * number,
                    readiness_seconds=7.0,
                )
                for number, name in enumerate(GROUPS)
            ],
        )
        for number, name in enumerate(NAMES[:4]):
            self.cluster.create(make_node(name=name))
            if number < len(GROUPS):
                self.cloud.adopt(GROUPS[number], name)
        for name in PODS[:4]:
            self.cluster.create(make_pod(name=name))
        self.seen = self.read()
        self.waits: dict[str, SeenPod] = {}

    def read(self) -> SeenCluster:
        return SeenCluster(self.cluster, self.cloud, OPTIONS)

    def nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self.cluster.list(Node).items}

    def follow(self) -> None:
        """Follow the changes of pods that wait."""
        for uid, seen in self.seen.take_changed_waits().items():
            self.waits.pop(uid, None)
            if seen is not None:
                self.waits[uid] = seen

    def pods(self) -> dict[str, Pod]:
        return {pod.name: pod for pod in self.cluster.list(Pod).items}

    def node(self, number: int) -> Node | None:
        nodes = [*self.nodes().values()]
        return nodes[number % len(nodes)] if nodes else None

    def pod(self, number: int) -> Pod | None:
        pods = [*self.pods().values()]
        return pods[number % len(pods)] if pods else None


def change(
    function: Callable[[World, str, int], None],
) -> Callable[[World, str, int], None]:
    CHANGES[function.__name__] = function
    return function


@change
def create_node(world: World, _group: str, number: int) -> None:
    name = NAMES[number % len(NAMES)]
    if name not in world.nodes():
        world.cluster.create(make_node(name=name))


@change
def delete_node(world: World, _group: str, number: int) -> None:
    if (node := world.node(number)) is not None:
        world.cluster.delete(Node, node.name)


@change
def adopt_node(world: World, group: str, number: int) -> None:
    node = world.node(number)
    if node is not None and world.cloud.group_of(node.name) is None:
        world.cloud.adopt(group, node.name)


@change
def lose_machine(world: World, _group: str, number: int) -> None:
    if (node := world.node(number)) is not None:
        world.cloud.lose(node.name, "somebody has deleted it")


@change
def order_nodes(world: World, group: str, number: int) -> None:
    world.cloud.increase(group, number % 3)


@change
def delete_machine(world: World, _group: str, number: int) -> None:
    machines = [each.name for each in world.cloud.instances()]
    if machines:
        world.cloud.delete([machines[number % len(machines)]])


@change
def let_time_pass(world: World, _group: str, number: int) -> None:
    world.clock.advance(float(number % 10))
    world.clock.run_due()


@change
def toggle_readiness(world: World, _group: str, number: int) -> None:
    if (node := world.node(number)) is None:
        return
    status = "False" if number % 2 else "True"
    ready = NodeCondition(
        type="Ready", status=status, last_transition_time=Time(world.clock.now())
    )
    others = (each for each in node.status.conditions if each.type != "Ready")
    status_of_node = replace(node.status, conditions=(*others, ready))
    world.cluster.update(replace(node, status=status_of_node))


@change
def toggle_taint(world: World, _group: str, number: int) -> None:
    if (node := world.node(number)) is None:
        return
    key = TAINTS[number % len(TAINTS)]
    taints = tuple(taint for taint in node.spec.taints if taint.key != key)
    if len(taints) == len(node.spec.taints):
        taints = (*taints, Taint(key=key, effect="PreferNoSchedule"))
    world.cluster.update(replace(node, spec=replace(node.spec, taints=taints)))


@change
def create_pod(world: World, _group: str, number: int) -> None:
    name = PODS[number % len(PODS)]
    if name not in world.pods():
        world.cluster.create(make_pod(name=name))


@change
def bind_pod(world: World, _group: str, number: int) -> None:
    pod, node = world.pod(number), world.node(number // 3)
    if pod is not None and node is not None and not pod.node_name:
        world.cluster.bind(pod, node.name)


@change
def find_no_node(world: World, _group: str, number: int) -> None:
    if (pod := world.pod(number)) is not None and not pod.node_name:
        world.cluster.patch_pod_status(pod, PodStatusPatch(condition=UNSCHEDULABLE))


@change
def find_no_node_again(world: World, _group: str, number: int) -> None:
    if (pod := world.pod(number)) is not None and not pod.node_name:
        condition = replace(UNSCHEDULABLE, message=f"0/{number} nodes are available")
        world.cluster.patch_pod_status(pod, PodStatusPatch(condition=condition))


@change
def fail_for_another_reason(world: World, _group: str, number: int) -> None:
    if (pod := world.pod(number)) is not None and not pod.node_name:
        condition = replace(UNSCHEDULABLE, reason="SchedulerError")
        world.cluster.patch_pod_status(pod, PodStatusPatch(condition=condition))


@change
def label_pod(world: World, _group: str, number: int) -> None:
    if (pod := world.pod(number)) is not None:
        metadata = replace(pod.metadata, labels={"app": str(number)})
        world.cluster.update(replace(pod, metadata=metadata))


@change
def nominate(world: World, _group: str, number: int) -> None:
    pod, node = world.pod(number), world.node(number // 3)
    if pod is not None and not pod.node_name:
        name = node.name if node is not None and number % 2 else ""
        patch = PodStatusPatch(nominated_node_name=name)
        world.cluster.patch_pod_status(pod, patch)


@change
def delete_pod(world: World, _group: str, number: int) -> None:
    if (pod := world.pod(number)) is not None:
        seconds = 0 if number % 3 else None
        world.cluster.delete(Pod, pod.key, grace_period_seconds=seconds)


@change
def look(world: World, _group: str, _number: int) -> None:
    world.seen.catch_up()
    world.follow()


def facts_of(nodes: Iterable[SeenNode]) -> list[tuple[Any, ...]]:
    return [
        (each.name, each.node, each.group, each.is_ready, each.is_marked)
        for each in nodes
    ]


def contents(seen: SeenCluster) -> dict[str, Any]:
    """Return all that the loops read, without the numbers that only order it."""

    def in_order(nodes: dict[str, SeenNode]) -> list[str]:
        return sorted(nodes, key=lambda name: nodes[name].number)

    return {
        "nodes": facts_of(seen.nodes.values()),
        "order": in_order(seen.nodes),
        "members": {
            name: (facts_of(each.values()), in_order(each))
            for name, each in seen.members.items()
        },
        "not ready": in_order(seen.not_ready),
        "marked": in_order(seen.marked),
        "without node": seen.without_node,
        "unschedulable": [*seen.unschedulable()],
        "pods": {name: [*seen.pods_on(name)] for name in seen.nodes},
    }


def steps(least: int, most: int) -> st.SearchStrategy[list[tuple[str, str, int]]]:
    change = st.tuples(
        st.sampled_from(sorted(CHANGES)), st.sampled_from(GROUPS), st.integers(0, 29)
    )
    return st.lists(change, min_size=least, max_size=most)


@given(steps(10, 40))
def test_seen_cluster_after_changes_equals_one_made_from_the_same_state(
    changes: list[tuple[str, str, int]],
) -> None:
    world = World()
    for name, group, number in changes:
        CHANGES[name](world, group, number)
        world.seen.take_touched()
    world.seen.catch_up()
    fresh = world.read()
    assert contents(world.seen) == contents(fresh)
    fresh.close()


@given(steps(10, 30), steps(1, 3))
def test_every_node_that_differs_after_changes_was_touched(
    before: list[tuple[str, str, int]], after: list[tuple[str, str, int]]
) -> None:
    world = World()
    for name, group, number in before:
        CHANGES[name](world, group, number)
    world.seen.catch_up()
    world.seen.take_touched()
    old = what_belongs_to_each_node(world)
    for name, group, number in after:
        CHANGES[name](world, group, number)
    world.seen.catch_up()
    new, touched = what_belongs_to_each_node(world), world.seen.take_touched()
    assert {name for name in {*old, *new} if old.get(name) != new.get(name)} <= touched


@given(steps(10, 40))
def test_changes_of_waiting_pods_lead_to_all_unschedulable_pods(
    changes: list[tuple[str, str, int]],
) -> None:
    world = World()
    for name, group, number in changes:
        CHANGES[name](world, group, number)
    look(world, "", 0)
    pods = [each.pod for each in sorted(world.waits.values(), key=number_of)]
    assert pods == [*world.seen.unschedulable()]
    traits = {uid: what_decides(each.pod) for uid, each in world.waits.items()}
    before = dict(world.waits)
    for name, group, number in changes:
        CHANGES[name](world, group, number)
    look(world, "", 0)
    same = [uid for uid, each in world.waits.items() if before.get(uid) is each]
    assert [traits[uid] for uid in same] == [
        what_decides(world.waits[uid].pod) for uid in same
    ]


def number_of(seen: SeenPod) -> int:
    return seen.number


def what_decides(pod: Pod) -> tuple[Any, ...]:
    """Return what filters may read of a pod that waits."""
    metadata, status = pod.metadata, replace(pod.status, conditions=())
    return pod.uid, metadata.labels, metadata.deletion_timestamp, pod.spec, status


def what_belongs_to_each_node(world: World) -> dict[str, Any]:
    """Return each node with its pods; a nominated pod belongs to its node."""
    pods = [
        (pod.node_name or pod.status.nominated_node_name, pod)
        for pod in world.pods().values()
    ]
    return {
        each.name: (facts_of([each]), [pod for name, pod in pods if name == each.name])
        for each in world.seen.nodes.values()
    }
