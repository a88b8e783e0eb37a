"""A record with an autoscaler of our own: nodes come and go as it decides."""

from pathlib import Path

import pytest

from quaymaster import Node
from quaymaster.autoscaling import (
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Quantity
from quaymaster.recording import ClusterRecorder, RecordWriter, RerunResult, rerun
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_pod, make_stateful_set

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
POOL = {"pool": "a"}
CAPACITY = {"cpu": "4", "memory": "8Gi", "pods": "110"}
END = 600
QUICK = ClusterAutoscalerOptions(
    scale_down_delay_after_add=0,
    scale_down_unneeded_time=60,
    scale_down_unready_time=60,
    unremovable_node_recheck_timeout=20,
)


def node(name: str) -> Node:
    return make_node(name=name, labels=POOL, capacity=CAPACITY)


def recorded(path: Path) -> None:
    """Record ten minutes: a node comes for a second pod, with a pod of its own."""
    cluster = InMemoryCluster(VirtualClock())
    cluster.load([node("n0"), make_pod(name="first", requests={"cpu": "3"})])
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        with Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation:
            simulation.run_until(10)
            cluster.create(make_pod(name="second", requests={"cpu": "3"}))
            simulation.run_until(300)
            cluster.create(node("theirs"))
            cluster.create(make_pod(name="agent", node="theirs"))
            simulation.run_until(END)
        recorder.close()


def scaled(path: Path) -> RerunResult:
    group = GroupSettings(
        name="a",
        max=5,
        price=1.0,
        nodes=POOL,
        resources={name: Quantity(amount) for name, amount in CAPACITY.items()},
    )
    setup = ClusterAutoscalerSetup(groups=[group], options=QUICK)
    return rerun(path, config=CONFIG, registry=REGISTRY, autoscaler=setup)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> RerunResult:
    path = tmp_path_factory.mktemp("record") / "record.jsonl.gz"
    recorded(path)
    return scaled(path)


def test_our_nodes_come_in_place_of_the_recorded_ones(result: RerunResult) -> None:
    assert result.scaled is not None
    names = [each.node for each in result.scaled.nodes]
    assert names == ["n0", "a-0"]
    assert {place.node for place in result.result.placements} == {"n0", "a-0"}


def test_pods_wait_for_our_nodes(result: RerunResult) -> None:
    assert result.theirs.pending_most == pytest.approx(290, abs=1)
    assert result.ours.pending_most == pytest.approx(100, abs=15)


def test_hours_of_nodes_are_compared(result: RerunResult) -> None:
    assert result.scaled is not None
    assert result.scaled.their_hours == pytest.approx((END + 300) / 3600)
    late = result.scaled.nodes[1].registered
    assert late is not None
    assert result.scaled.our_hours == pytest.approx((2 * END - late) / 3600)


def test_pods_of_recorded_nodes_are_left_out_with_a_notice(result: RerunResult) -> None:
    messages = [notice.message for notice in result.notices]
    assert "1 pod of nodes that only the record has were left out" in messages


def test_pods_that_our_autoscaler_evicts_are_created_again(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl.gz"
    cluster = InMemoryCluster(VirtualClock(), workloads=False)
    pod = make_pod(labels={"app": "web"}, requests={"cpu": "1"})
    owner = make_stateful_set(name="web", replicas=2, selector={"app": "web"}, pod=pod)
    cluster.load([node("n0"), node("n1"), owner])
    owner = cluster.list(type(owner)).items[0]
    with RecordWriter(path) as writer:
        for number in range(2):
            name, place = f"web-{number}", f"n{number}"
            bound = make_pod(
                name=name,
                node=place,
                owner=owner,
                labels={"app": "web"},
                requests={"cpu": "1"},
            )
            cluster.create(bound)
        recorder = ClusterRecorder(cluster, writer.write)
        with Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation:
            simulation.run_until(END)
        recorder.close()
    result = scaled(path)
    assert result.scaled is not None
    assert result.scaled.disruptions == 1
    [moved] = result.result.placements
    removed = [each.node for each in result.scaled.nodes if each.removed is not None]
    assert moved.pod in ("default/web-0", "default/web-1")
    assert [moved.node] != removed
    assert len(removed) == 1


def test_a_record_without_an_autoscaler_keeps_its_nodes(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl.gz"
    recorded(path)
    result = rerun(path, config=CONFIG, registry=REGISTRY)
    assert result.scaled is None
    assert result.ours.placed == result.theirs.placed
