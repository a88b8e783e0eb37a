"""The engine decides as a simple scheduler does."""

from collections.abc import Sequence

import attrs
import pytest
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from quaymaster import Pod
from quaymaster.testing import SchedulerHarness
from tests.model.cluster import Cluster, ModelNode, ModelPod
from tests.model.decisions import best_nodes, feasible_nodes, preemptions

KEYS, EFFECTS = ["a", "b"], ["NoSchedule", "NoExecute", "PreferNoSchedule"]


@st.composite
def nodes(draw: st.DrawFn) -> Sequence[ModelNode]:
    taint = st.tuples(st.sampled_from(KEYS), st.sampled_from(EFFECTS))
    return [
        ModelNode(
            name=f"n{number}",
            zone=draw(st.sampled_from(["east", "west", "west", ""])),
            cpu=draw(st.sampled_from([1000, 1500, 4000])),
            memory=draw(st.sampled_from([1000, 3000])),
            pods=draw(st.integers(1, 5)),
            disk=draw(st.sampled_from(["ssd", "hdd"])),
            taints=draw(st.frozensets(taint, max_size=1)),
            cordoned=draw(st.integers(0, 7)) == 0,
        )
        for number in range(draw(st.integers(1, 5)))
    ]


@st.composite
def pods(
    draw: st.DrawFn, name: str, started: int, priorities: Sequence[int]
) -> ModelPod:
    rarely = st.integers(0, 3).map(lambda number: number == 0)
    return ModelPod(
        name=name,
        app=draw(st.sampled_from(["x", "y"])),
        cpu=draw(st.sampled_from([100, 250, 300, 700, 1000])),
        memory=draw(st.sampled_from([50, 200, 333, 900])),
        priority=draw(st.sampled_from(priorities)),
        started=started,
        disk=draw(st.sampled_from(["ssd", "hdd"])) if draw(rarely) else "",
        prefers=draw(st.sampled_from(["ssd", "hdd"])) if draw(rarely) else "",
        tolerates=draw(st.frozensets(st.sampled_from(KEYS))),
        spread=draw(st.integers(1, 2)) if draw(rarely) else 0,
        apart=draw(st.sampled_from(["zone", "host"])) if draw(rarely) else "",
    )


@attrs.frozen
class Situation:
    """A cluster, and the pods that wait."""

    cluster: Cluster
    pending: Sequence[ModelPod]

    def harness(self) -> SchedulerHarness:
        cluster = self.cluster
        running = [
            pod.to_object(node.name)
            for node in cluster.nodes
            for pod in cluster.pods_on(node)
        ]
        pending = [pod.to_object() for pod in self.pending]
        return SchedulerHarness(
            [*(node.to_object() for node in cluster.nodes), *running, *pending]
        )


@st.composite
def worlds(
    draw: st.DrawFn, priority: int, pending: int, *, hungry: bool = False
) -> Situation:
    """Draw a cluster: priorities of running pods are -1 to 2, hungry pods are large."""
    drawn = draw(nodes())
    if hungry:  # eviction could make room for all but the first
        others = [
            attrs.evolve(node, cpu=1500, cordoned=False, taints=frozenset())
            for node in drawn[1:]
        ]
        drawn = [drawn[0], *others]
    # Hungry pods may preempt most of the others.
    priorities = [-1, 0, 0, 1, 1, 2] if hungry else [-1, 0, 1, 2]
    running: dict[str, list[ModelPod]] = {node.name: [] for node in drawn}
    for number in range(draw(st.integers(5 if hungry else 0, 12))):
        node = drawn[number % len(drawn)] if hungry else draw(st.sampled_from(drawn))
        pod = draw(pods(f"r{number}", number * 7 % 13, priorities))
        # Running pods may break rules: the kubelet checks only the room.
        here = [*running[node.name], pod]
        if len(here) <= node.pods and sum(p.cpu for p in here) <= node.cpu:
            running[node.name] = here
    count = draw(st.integers(1, pending))
    waiting = [draw(pods(f"p{number}", 99, [priority])) for number in range(count)]
    if hungry:
        waiting = [attrs.evolve(pod, cpu=1500, disk="") for pod in waiting]
    return Situation(Cluster(drawn, running), waiting)


@pytest.mark.long
@given(world=worlds(priority=-5, pending=5))
def test_each_pod_gets_one_of_the_best_nodes_if_any_is_feasible(
    world: Situation,
) -> None:
    harness = world.harness()
    running = {name: list(pods) for name, pods in world.cluster.running.items()}
    cluster = Cluster(world.cluster.nodes, running)
    for pod in world.pending:
        feasible = {node.name for node in feasible_nodes(cluster, pod)}
        best = best_nodes(cluster, pod)
        assert harness.schedule_one() == f"default/{pod.name}"
        chosen = harness.node_of(pod.name)
        event(f"{min(len(feasible), 2)} feasible nodes")
        assert bool(chosen) == bool(feasible)
        if chosen:
            assert chosen in best
            running[chosen].append(pod)


def two_unimportant_or_one_important() -> Situation:
    """Make a case that is rarely drawn: the larger number of victims is better."""
    node = ModelNode(
        name="n0",
        zone="",
        cpu=1000,
        memory=1000,
        pods=5,
        disk="ssd",
        taints=frozenset(),
        cordoned=False,
    )
    pod = ModelPod(
        name="p",
        app="x",
        cpu=1000,
        memory=100,
        priority=2,
        started=0,
        disk="",
        prefers="",
        tolerates=frozenset(),
        spread=0,
        apart="",
    )
    small = attrs.evolve(pod, cpu=500, priority=-1)
    running = {
        "n0": [attrs.evolve(small, name=f"r{n}", started=n) for n in (1, 2)],
        "n1": [attrs.evolve(pod, name="r3", priority=1, started=3)],
    }
    return Situation(Cluster([node, attrs.evolve(node, name="n1")], running), [pod])


def has_taint_evictions(cluster: Cluster) -> bool:
    """Report whether the taint eviction controller deletes running pods."""
    return any(
        effect == "NoExecute" and key not in pod.tolerates
        for node in cluster.nodes
        for pod in cluster.running.get(node.name, ())
        for key, effect in node.taints
    )


@pytest.mark.long
@example(world=two_unimportant_or_one_important())
@given(world=worlds(priority=2, pending=1, hungry=True))
def test_preemptor_gets_its_node_once_the_least_harmful_victims_are_gone(
    world: Situation,
) -> None:
    cluster, [pod] = world.cluster, world.pending
    assume(not feasible_nodes(cluster, pod))
    assume(not has_taint_evictions(cluster))
    allowed = preemptions(cluster, pod)
    harness = world.harness()
    harness.schedule_one()
    victims = frozenset(
        other.name
        for other in harness.cluster.list(Pod).items
        if other.metadata.deletion_timestamp is not None
    )
    nominated = harness.pod(pod.name).status.nominated_node_name
    event(f"{len(victims)} victims, {len(allowed)} ways")
    assert not harness.node_of(pod.name)
    if allowed:
        assert (nominated, victims) in allowed
    else:
        assert (nominated, victims) == ("", frozenset())
    harness.advance(120.0)
    assert harness.node_of(pod.name) == nominated
