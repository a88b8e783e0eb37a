"""The history of pods and nodes with its times."""

from collections.abc import Iterator

import pytest

from quaymaster import Node, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import History, Simulation
from quaymaster.testing import make_node, make_pod
from tests.kit.workloads import make_deployment

REGISTRY = PluginRegistry.discover()
RUN_SECONDS = "simulation.quaymaster.io/run-seconds"


@pytest.fixture
def cluster() -> InMemoryCluster:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load([make_node(name="n", capacity={"cpu": "2", "memory": "4Gi"})])
    return cluster


@pytest.fixture
def history(cluster: InMemoryCluster) -> History:
    return History(cluster)


@pytest.fixture
def simulation(cluster: InMemoryCluster, history: History) -> Iterator[Simulation]:
    config = default_config(REGISTRY)
    with Simulation(cluster, config=config, registry=REGISTRY) as simulation:
        yield simulation


def job(name: str, seconds: int) -> Pod:
    return make_pod(
        name=name, requests={"cpu": "2"}, annotations={RUN_SECONDS: str(seconds)}
    )


def test_the_times_of_a_pod_are_those_of_the_moments(
    cluster: InMemoryCluster, history: History, simulation: Simulation
) -> None:
    simulation.run_until(5)
    cluster.create(job("first", 60))
    cluster.create(job("second", 60))
    simulation.settle()
    first, second = history.pods
    assert (first.created, first.bound, first.ended) == (5, 5, 65)
    assert (second.created, second.bound, second.ended) == (5, 65, 125)
    assert (first.node, second.node) == ("n", "n")


def test_a_deleted_pod_runs_until_its_grace_period_is_over(
    cluster: InMemoryCluster, history: History, simulation: Simulation
) -> None:
    cluster.create(make_pod(name="p"))
    simulation.run_until(10)
    cluster.delete(Pod, "default/p")
    simulation.run_until(60)
    [life] = history.pods
    assert (life.leaving, life.gone, life.ran_until) == (10, 40, 40)


def test_a_pod_of_a_lost_node_is_lost_unless_the_node_comes_back(
    cluster: InMemoryCluster, history: History, simulation: Simulation
) -> None:
    cluster.create(make_pod(name="p"))
    simulation.run_until(10)
    node = cluster.get(Node, "n")
    cluster.delete(Node, "n")
    simulation.run_until(20)
    [life] = history.pods
    assert life.ran_until == 10
    cluster.create(make_node(name="n", capacity=node.status.capacity))
    simulation.run_until(100)
    assert life.ran_until is None


def test_the_owners_of_a_pod_are_the_whole_chain(
    cluster: InMemoryCluster, history: History, simulation: Simulation
) -> None:
    cluster.create(make_deployment(name="web", replicas=1))
    simulation.settle()
    [life] = history.pods
    replica_set, deployment = life.owners
    assert replica_set.kind == "ReplicaSet"
    assert (deployment.kind, deployment.name) == ("Deployment", "web")


def test_recording_a_history_changes_no_decision(cluster: InMemoryCluster) -> None:
    config = default_config(REGISTRY)
    results = []
    for is_followed in (True, False):
        fresh = InMemoryCluster(VirtualClock())
        fresh.load([make_node(name=f"n{i}") for i in range(3)])
        fresh.load([job(f"p{i}", 60 + i) for i in range(12)])
        history = History(fresh) if is_followed else None
        with Simulation(fresh, config=config, registry=REGISTRY) as simulation:
            simulation.settle()
            results.append(simulation.result())
        if history is not None:
            history.close()
    followed, alone = results
    assert [
        (placement.pod, placement.node, placement.bound)
        for placement in followed.placements
    ] == [
        (placement.pod, placement.node, placement.bound)
        for placement in alone.placements
    ]
