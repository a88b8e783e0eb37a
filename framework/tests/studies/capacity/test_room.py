"""Figures of the free and used capacity of a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.planning import (
    PRICE_ANNOTATION,
    Prices,
    ResourceRoom,
    Room,
    measure_room,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_pod

REGISTRY = PluginRegistry.discover()
ZONE = "topology.kubernetes.io/zone"
TYPE = "node.kubernetes.io/instance-type"


@contextmanager
def settled(*objects: ApiObject) -> Iterator[Simulation]:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(objects)
    config = default_config(REGISTRY)
    with Simulation(cluster, config=config, registry=REGISTRY) as simulation:
        simulation.settle()
        yield simulation


def room(*objects: ApiObject, by: tuple[str, ...] | None = None) -> Room:
    with settled(*objects) as simulation:
        return measure_room(simulation, by=by)


def test_a_node_has_allocatable_requested_and_free_amounts() -> None:
    node = make_node(
        name="n", capacity={"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "2"}
    )
    pod = make_pod(
        name="p", requests={"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}
    )
    [found] = room(node, pod).nodes
    assert (found.node, found.pods) == ("n", 1)
    gib = 1 << 30
    assert {name: found.resources[name] for name in ("cpu", "memory")} == {
        "cpu": ResourceRoom(allocatable=4000, requested=500, free=3500),
        "memory": ResourceRoom(allocatable=8 * gib, requested=gib, free=7 * gib),
    }
    gpus = found.resources["nvidia.com/gpu"]
    assert (gpus.allocatable, gpus.requested, gpus.free) == (2, 1, 1)
    assert gpus.utilization == 0.5


def test_pods_are_a_resource_too() -> None:
    node = make_node(name="n", capacity={"cpu": "4", "pods": "10"})
    found = room(node, make_pod(name="p")).total.resources["pods"]
    assert (found.allocatable, found.requested, found.free) == (10, 1, 9)


def test_an_overcommitted_node_has_nothing_free() -> None:
    full = make_node(name="full", capacity={"cpu": "1"})
    empty = make_node(name="empty", capacity={"cpu": "1"})
    pod = make_pod(name="p", node="full", requests={"cpu": "3"})
    cpu = room(full, empty, pod).total.resources["cpu"]
    assert (cpu.allocatable, cpu.requested, cpu.free) == (2000, 3000, 1000)


def test_pods_that_wait_or_have_ended_take_no_room() -> None:
    node = make_node(name="n", capacity={"cpu": "1"})
    ended = make_pod(name="ended", node="n", requests={"cpu": "1"}, phase="Succeeded")
    waits = make_pod(name="waits", requests={"cpu": "2"})
    assert room(node, ended, waits).total.resources["cpu"].free == 1000


def test_nodes_are_grouped_by_zone_and_instance_type_if_they_have_them() -> None:
    nodes = [
        make_node(name="a1", labels={ZONE: "a", TYPE: "large"}),
        make_node(name="a2", labels={ZONE: "a", TYPE: "small"}),
        make_node(name="b1", labels={ZONE: "b"}),
        make_node(name="b2", labels={ZONE: "b"}),
    ]
    found = room(*nodes)
    assert found.by == (ZONE, TYPE)
    assert [(group.group, group.nodes) for group in found.groups] == [
        (("a", "large"), 1),
        (("a", "small"), 1),
        (("b", ""), 2),
    ]
    assert room(make_node(name="n")).by == ()


def test_nodes_are_grouped_by_any_label() -> None:
    nodes = [make_node(name=f"n{i}", labels={"rack": str(i % 2)}) for i in range(3)]
    found = room(*nodes, by=("rack",))
    assert [(group.group, group.nodes) for group in found.groups] == [
        (("0",), 2),
        (("1",), 1),
    ]


def test_the_groups_add_up_to_the_total() -> None:
    nodes = [make_node(name=f"n{i}", labels={"rack": str(i % 3)}) for i in range(7)]
    pods = [make_pod(name=f"p{i}", requests={"cpu": "300m"}) for i in range(20)]
    found = room(*nodes, *pods, by=("rack",))
    assert sum(group.pods for group in found.groups) == found.total.pods == 20
    for name, total in found.total.resources.items():
        parts = [group.resources[name] for group in found.groups]
        assert sum(part.free for part in parts) == total.free
        assert sum(part.requested for part in parts) == total.requested


def test_even_nodes_have_no_imbalance_and_a_full_one_beside_an_empty_one_has() -> None:
    nodes = [make_node(name=f"n{i}", capacity={"cpu": "1"}) for i in range(2)]
    even = [make_pod(name=f"p{i}", node=f"n{i}", requests={"cpu": "1"}) for i in (0, 1)]
    assert room(*nodes, *even).total.imbalance["cpu"] == 0
    assert room(*nodes, even[0]).total.imbalance["cpu"] == 0.5


def test_nodes_without_a_resource_do_not_count_for_its_imbalance() -> None:
    nodes = [
        make_node(name="gpu", capacity={"cpu": "1", "nvidia.com/gpu": "1"}),
        make_node(name="plain", capacity={"cpu": "1"}),
    ]
    assert room(*nodes).total.imbalance["nvidia.com/gpu"] == 0


def test_prices_are_added_up_and_missing_ones_counted() -> None:
    nodes = [
        make_node(name="a", annotations={PRICE_ANNOTATION: "0.1"}),
        make_node(name="b", labels={TYPE: "large"}),
        make_node(name="c"),
    ]
    with settled(*nodes) as simulation:
        found = measure_room(
            simulation, prices=Prices(per_instance_type={"large": 0.2})
        )
    assert (found.total.price_per_hour, found.total.unpriced) == (0.3, 1)
    assert [node.price_per_hour for node in found.nodes] == [0.1, 0.2, None]


def test_a_cluster_without_nodes_has_no_room() -> None:
    found = room(make_pod(name="p"))
    assert (found.total.nodes, found.groups, found.nodes) == (0, (), ())
    assert found.total.price_per_hour is None


def test_amounts_beyond_64_bits_are_added_up() -> None:
    nodes = [make_node(name=f"n{i}", capacity={"memory": "8Ei"}) for i in range(3)]
    memory = room(*nodes).total.resources["memory"]
    assert memory.allocatable == 3 * (2**63 - 1)


@pytest.mark.parametrize("each", [True, False])
def test_figures_of_each_node_may_be_left_out(each: bool) -> None:
    with settled(make_node(name="n")) as simulation:
        assert bool(measure_room(simulation, each_node=each).nodes) is each


def test_nodes_that_accept_no_pods_are_counted_apart() -> None:
    cordoned = make_node(name="shut", capacity={"cpu": "4"}, unschedulable=True)
    found = room(make_node(name="n", capacity={"cpu": "4"}), cordoned)
    assert [node.status for node in found.nodes] == [
        "Ready",
        "Ready,SchedulingDisabled",
    ]
    assert found.open is not None
    assert found.closed is not None
    assert (found.open.nodes, found.closed.nodes, found.total.nodes) == (1, 1, 2)
    assert (found.open.closed, found.total.closed) == (0, 1)
    assert found.open.resources["cpu"].free == 4000
    [closed] = found.closed_nodes
    assert (closed.node, closed.why) == ("shut", "cordoned")


def test_groups_count_their_closed_nodes() -> None:
    nodes = [
        make_node(name=name, labels={ZONE: name[0]}, unschedulable=name == "b1")
        for name in ("a1", "b1", "b2")
    ]
    found = room(*nodes)
    assert [(group.group, group.closed) for group in found.groups] == [
        (("a",), 0),
        (("b",), 1),
    ]


def test_cluster_without_closed_nodes_has_one_total() -> None:
    found = room(make_node(name="n"))
    assert (found.open, found.closed, found.closed_nodes) == (None, None, ())
