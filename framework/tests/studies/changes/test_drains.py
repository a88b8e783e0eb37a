"""Drains: pods leave a node as far as their disruption budgets allow it."""

from collections.abc import Iterator

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.cluster import TooManyRequestsError
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.planning import (
    ChangeError,
    ClusterChange,
    Cordon,
    Drain,
    Effect,
    Uncordon,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import (
    make_daemon_set,
    make_deployment,
    make_node,
    make_pod,
    make_pod_disruption_budget,
    make_stateful_set,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
LABELS = {"app": "web"}


def simulated(*objects: ApiObject, nodes: int = 2) -> Simulation:
    """Return a settled simulation of objects on large nodes ``n0``, ``n1``, ..."""
    cluster = InMemoryCluster(VirtualClock())
    made = [make_node(name=f"n{index}") for index in range(nodes)]
    cluster.load([*made, *objects])
    simulation = Simulation(cluster, config=CONFIG, registry=REGISTRY)
    simulation.settle()
    return simulation


def settled(simulation: Simulation, change: ClusterChange) -> Effect:
    effect = change.apply(simulation)
    simulation.settle()
    return effect


def pods_on(simulation: Simulation, node: str) -> list[str]:
    pods = simulation.cluster.list(Pod).items
    return sorted(pod.key for pod in pods if pod.node_name == node)


@pytest.fixture
def web() -> Iterator[Simulation]:
    """Return six pods on two nodes, with a budget of one unavailable pod."""
    budget = make_pod_disruption_budget(selector=LABELS, max_unavailable=1)
    with simulated(make_deployment(name="web", replicas=6), budget) as simulation:
        yield simulation


def test_pods_move_to_the_other_nodes(web: Simulation) -> None:
    before = pods_on(web, "n0")
    effect = settled(web, Drain(nodes="n0"))
    assert pods_on(web, "n0") == []
    assert len(pods_on(web, "n1")) == 6
    assert [eviction.pod for eviction in effect.evicted] == before
    assert {eviction.node for eviction in effect.evicted} == {"n0"}


def test_refused_evictions_are_retried_every_five_seconds(
    web: Simulation,
) -> None:
    effect = settled(web, Drain(nodes="n0"))
    first, *others = effect.evicted
    assert first.at == effect.at
    assert [refusal.pod for refusal in effect.refused.values()] == [
        eviction.pod for eviction in others
    ]
    for refused in effect.refused.values():
        assert refused.is_gone
        assert refused.message.startswith("Cannot evict pod as it would violate")
        assert refused.first == effect.at
        assert (refused.last - refused.first) / 5 == refused.times - 1


def test_a_drain_equals_evictions_by_hand(web: Simulation) -> None:
    by_hand = simulated(
        make_deployment(name="web", replicas=6),
        make_pod_disruption_budget(selector=LABELS, max_unavailable=1),
    )
    settled(by_hand, Cordon(nodes="n0"))
    waiting, begun = pods_on(by_hand, "n0"), by_hand.now
    evicted: list[tuple[str, float]] = []
    while waiting:
        for key in list(waiting):
            try:
                by_hand.cluster.evict(key)
            except TooManyRequestsError:
                continue
            waiting.remove(key)
            evicted.append((key, by_hand.now - begun))
        by_hand.run_until(by_hand.now + 5)
    by_hand.settle()
    effect = settled(web, Drain(nodes="n0"))
    assert [
        (eviction.pod, eviction.at - effect.at) for eviction in effect.evicted
    ] == evicted
    mine = {pod.key: pod.node_name for pod in web.cluster.list(Pod).items}
    assert mine == {pod.key: pod.node_name for pod in by_hand.cluster.list(Pod).items}
    by_hand.close()


def test_a_drain_fails_at_its_timeout() -> None:
    budget = make_pod_disruption_budget(selector=LABELS, max_unavailable=0)
    with simulated(make_deployment(name="web", replicas=2), budget) as simulation:
        here = pods_on(simulation, "n0")
        effect = settled(simulation, Drain(nodes="n0", timeout_seconds=60))
        assert pods_on(simulation, "n0") == here
        assert effect.evicted == []
        assert effect.stayed == dict.fromkeys(here, "not evicted in time")
        assert effect.ended == effect.at + 60
        [refused] = effect.refused.values()
        assert (refused.times, refused.is_gone) == (13, False)
        assert refused.cause.endswith("needs 2 healthy pods and has 2 currently")


def test_pods_of_two_budgets_are_not_tried_again() -> None:
    budgets = [
        make_pod_disruption_budget(name=name, selector=LABELS, max_unavailable=1)
        for name in ("a", "b")
    ]
    web = make_deployment(name="web", replicas=1)
    with simulated(web, *budgets, nodes=1) as simulation:
        effect = settled(simulation, Drain(nodes="n0"))
        [refused] = effect.refused.values()
        assert refused.times == 1
        assert "more than one PodDisruptionBudget" in refused.message
        assert effect.ended == effect.at


def test_pods_of_daemon_sets_stay_and_bare_pods_go() -> None:
    bare = make_pod(name="bare", node="n0")
    static = make_pod(
        name="static", node="n0", annotations={"kubernetes.io/config.mirror": "x"}
    )
    with simulated(make_daemon_set(name="agent"), bare, static) as simulation:
        effect = settled(simulation, Drain(nodes="n0"))
        assert effect.unmanaged == ["default/bare"]
        assert sorted(effect.stayed.values()) == [
            "DaemonSet-managed",
            "run by the node itself",
        ]
        assert pods_on(simulation, "n0") == sorted(effect.stayed)


def test_a_selector_drains_all_its_nodes_one_after_the_other() -> None:
    old = [make_node(name=f"old-{index}", labels={"pool": "old"}) for index in range(2)]
    pods = [make_pod(name=f"p{index}", node=f"old-{index}") for index in range(2)]
    with simulated(*old, *pods) as simulation:
        effect = settled(simulation, Drain(nodes="pool in (old, older),!spare"))
        first, second = effect.evicted
        assert (first.node, second.node) == ("old-0", "old-1")
        assert second.at == first.at + 30  # the grace period of the first one
        assert all(
            node.spec.unschedulable is (node.name.startswith("old"))
            for node in simulation.cluster.list(Node).items
        )


def test_a_grace_period_may_be_given() -> None:
    with simulated(make_pod(name="p", node="n0")) as simulation:
        effect = settled(simulation, Drain(nodes="n0", grace_period_seconds=5))
        assert effect.ended == effect.at + 5


def test_a_pod_of_a_stateful_set_is_not_evicted_again_where_it_comes_back() -> None:
    with simulated(make_stateful_set(name="db", replicas=2), nodes=2) as simulation:
        [key] = pods_on(simulation, "n0")
        effect = settled(simulation, Drain(nodes="n0"))
        assert [eviction.pod for eviction in effect.evicted] == [key]
        assert key in pods_on(simulation, "n1")


def test_cordoned_nodes_take_no_pods_until_they_are_uncordoned() -> None:
    with simulated(nodes=1) as simulation:
        cordon = settled(simulation, Cordon(nodes="n0"))
        assert cordon.objects == ["Node/n0"]
        assert settled(simulation, Cordon(nodes="n0")).objects == []
        simulation.cluster.create(make_pod(name="p"))
        simulation.settle()
        [pending] = simulation.result().unscheduled
        assert "1 node(s) were unschedulable" in pending.message
        settled(simulation, Uncordon(nodes="n0"))
        assert pods_on(simulation, "n0") == ["default/p"]
        assert simulation.cluster.get(Node, "n0").spec.taints == ()


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ("n00", "drain n00: there is no node 'n00'; did you mean n0?"),
        ("pool=old", "drain pool=old: no node has the labels 'pool=old'"),
        ("pool in old)", "expected a selector such as pool=old"),
        ("=", "expected a selector such as pool=old"),
    ],
)
def test_missing_nodes_are_an_error(nodes: str, problem: str) -> None:
    with simulated() as simulation, pytest.raises(ChangeError) as error:
        Drain(nodes=nodes).apply(simulation)
    assert problem in str(error.value)
