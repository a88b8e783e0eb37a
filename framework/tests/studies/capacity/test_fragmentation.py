"""Fragmentation: the free room that typical pods cannot use."""

import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.planning import Room, TypicalPod, measure_room
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import (
    make_daemon_set,
    make_deployment,
    make_node,
    make_pod,
)

REGISTRY = PluginRegistry.discover()


def room(*objects: ApiObject) -> Room:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(objects)
    config = default_config(REGISTRY)
    with Simulation(cluster, config=config, registry=REGISTRY) as simulation:
        simulation.settle()
        return measure_room(simulation, fragmentation=True)


def test_free_room_that_is_too_small_for_the_pods_is_fragmented() -> None:
    nodes = [make_node(name=f"n{i}", capacity={"cpu": "4"}) for i in range(2)]
    pods = [make_pod(name=f"p{i}", node="n0", requests={"cpu": "3"}) for i in range(1)]
    total = room(*nodes, *pods).total
    # Of 1 + 4 free cores, the one on n0 is too little for a pod of 3.
    assert total.fragmentation["cpu"] == total.stranded["cpu"] == 1 / 5


def test_the_mean_is_weighted_by_how_many_pods_are_of_a_kind() -> None:
    nodes = [make_node(name="n", capacity={"cpu": "10"})]
    small = [make_pod(name=f"s{i}", node="n", requests={"cpu": "1"}) for i in range(3)]
    large = make_pod(name="large", requests={"cpu": "9"})
    total = room(*nodes, *small, large).total
    assert total.fragmentation["cpu"] == 1 / 4
    assert total.stranded["cpu"] == 0


def test_only_pods_that_request_a_resource_count_for_it() -> None:
    gpu = make_node(
        name="gpu",
        capacity={"cpu": "4", "nvidia.com/gpu": "2"},
        taints=["gpu:NoSchedule"],
    )
    plain = make_node(name="plain", capacity={"cpu": "4"})
    web = [make_pod(name=f"w{i}", requests={"cpu": "1"}) for i in range(2)]
    total = room(gpu, plain, *web).total
    # 4 of the 6 free cores are behind the taint; no pod requests GPUs.
    assert total.fragmentation["cpu"] == pytest.approx(4 / 6)
    assert "nvidia.com/gpu" not in total.fragmentation


def test_room_of_a_cordoned_node_is_unusable() -> None:
    nodes = [
        make_node(name="open", capacity={"cpu": "2"}),
        make_node(name="shut", capacity={"cpu": "2"}, unschedulable=True),
    ]
    total = room(*nodes, make_pod(name="p", node="open", requests={"cpu": "1"})).total
    assert total.stranded["cpu"] == pytest.approx(2 / 3)


def test_typical_pods_are_those_of_workloads_and_not_of_daemon_sets() -> None:
    web = make_deployment(
        name="web",
        replicas=3,
        pod=make_pod(labels={"app": "web"}, requests={"cpu": "1"}),
    )
    found = room(
        make_node(name="n", capacity={"cpu": "4"}),
        web,
        make_daemon_set(name="agent"),
        make_pod(name="over", phase="Succeeded", node="n"),
    )
    [typical] = found.typical
    assert isinstance(typical, TypicalPod)
    assert typical.pod.startswith("default/web-")
    assert (typical.pods, typical.requests, typical.nodes) == (
        3,
        {"cpu": 1000, "pods": 1},
        1,
    )


def test_full_nodes_and_empty_clusters_are_not_fragmented() -> None:
    full = room(
        make_node(name="n", capacity={"cpu": "1"}),
        make_pod(name="p", requests={"cpu": "1"}),
    )
    assert "cpu" not in full.total.fragmentation
    assert room(make_pod(name="p")).total.fragmentation == {}


def test_each_group_has_its_own_fragmentation() -> None:
    nodes = [
        make_node(
            name=f"n{zone}",
            capacity={"cpu": "4"},
            labels={"topology.kubernetes.io/zone": zone},
        )
        for zone in "ab"
    ]
    pod = make_pod(name="p", node="na", requests={"cpu": "3"})
    found = room(*nodes, pod)
    assert [group.fragmentation["cpu"] for group in found.groups] == [1, 0]


def test_measuring_changes_nothing() -> None:
    objects = [
        make_node(name="n", capacity={"cpu": "4"}),
        *(make_pod(name=f"p{i}", requests={"cpu": "1"}) for i in range(2)),
    ]
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(objects)
    config = default_config(REGISTRY)
    with Simulation(cluster, config=config, registry=REGISTRY) as simulation:
        simulation.settle()
        version = cluster.resource_version
        first = measure_room(simulation, fragmentation=True)
        assert measure_room(simulation, fragmentation=True) == first
        assert cluster.resource_version == version
