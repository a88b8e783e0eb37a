"""A simulation in steps: the cluster changes and scheduling continues."""

from collections.abc import Iterator

import pytest

from quaymaster import Node, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_pod

REGISTRY = PluginRegistry.discover()


@pytest.fixture
def cluster() -> InMemoryCluster:
    return InMemoryCluster(VirtualClock())


@pytest.fixture
def simulation(cluster: InMemoryCluster) -> Iterator[Simulation]:
    config = default_config(REGISTRY)
    with Simulation(cluster, config=config, registry=REGISTRY) as simulation:
        yield simulation


def bring_in(cluster: InMemoryCluster, pod: Pod) -> None:
    cluster.create(pod)


def node_of(cluster: InMemoryCluster, pod: str) -> str:
    return cluster.get(Pod, f"default/{pod}").node_name


def test_a_settled_simulation_continues_after_a_change(
    cluster: InMemoryCluster, simulation: Simulation
) -> None:
    cluster.load([make_node(name="small", capacity={"cpu": "1"})])
    cluster.create(make_pod(name="big", requests={"cpu": "2"}))
    simulation.settle()
    assert [pod.pod for pod in simulation.result().unscheduled] == ["default/big"]

    cluster.create(make_node(name="large", capacity={"cpu": "4"}))
    simulation.settle()
    assert node_of(cluster, "big") == "large"
    assert simulation.result().unscheduled == ()


def test_time_passes_to_the_requested_second_and_no_further(
    cluster: InMemoryCluster, simulation: Simulation
) -> None:
    cluster.load([make_node(name="n")])
    simulation.run_until(30)
    assert simulation.now == 30
    cluster.create(make_pod(name="late"))
    simulation.run_until(30)
    [placement] = simulation.result().placements
    assert (placement.created, placement.bound) == (30, 30)


def test_what_is_due_at_the_end_of_a_step_is_part_of_it(
    cluster: InMemoryCluster, simulation: Simulation
) -> None:
    """The timer was set for the very second that the step ends with."""
    cluster.load([make_node(name="n")])
    pod = make_pod(name="late")
    cluster.clock.call_later(10, lambda: bring_in(cluster, pod))
    simulation.run_until(10)
    assert node_of(cluster, "late") == "n"


def test_running_to_a_past_time_is_an_error(simulation: Simulation) -> None:
    simulation.run_until(30)
    simulation.run_until(10)
    assert simulation.now == 30


def test_state_of_the_scheduler_may_be_read_between_steps(
    cluster: InMemoryCluster, simulation: Simulation
) -> None:
    cluster.load([make_node(name="n"), make_pod(name="p")])
    simulation.settle()
    [node] = simulation.scheduler.snapshot
    assert [pod.key for pod in node.pods.values()] == ["default/p"]


def test_a_lost_node_is_seen(cluster: InMemoryCluster, simulation: Simulation) -> None:
    cluster.load([make_node(name="n")])
    simulation.settle()
    cluster.delete(Node, "n")
    cluster.create(make_pod(name="p"))
    simulation.settle()
    [left] = simulation.result().unscheduled
    assert left.message.startswith("no nodes available to schedule pods")
