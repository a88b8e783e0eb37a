"""A rerun replays the events of a record with our own decisions."""

from collections.abc import Callable
from pathlib import Path

import pytest

from quaymaster import Pod
from quaymaster.config import default_config, load_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.recording import (
    ClusterRecorder,
    Course,
    RecordWriter,
    RerunResult,
    rerun,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import (
    make_deployment,
    make_node,
    make_persistent_volume_claim,
    make_pod,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
RUN_SECONDS = "simulation.quaymaster.io/run-seconds"

What = Callable[[InMemoryCluster, Simulation], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.jsonl.gz"


def rerun_of(path: Path, what: What, config: str = "") -> RerunResult:
    """Record changes of two nodes of four CPUs, and rerun them."""
    cluster = InMemoryCluster(VirtualClock())
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    cluster.load([make_node(name=f"n{index}", capacity=capacity) for index in (0, 1)])
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        with Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation:
            what(cluster, simulation)
        recorder.close()
    ours = load_config(config, REGISTRY) if config else CONFIG
    return rerun(path, config=ours, registry=REGISTRY)


def come(cluster: InMemoryCluster, name: str, cpu: str, seconds: str = "") -> None:
    annotations = {RUN_SECONDS: seconds} if seconds else {}
    pod = make_pod(name=name, requests={"cpu": cpu}, annotations=annotations)
    cluster.create(pod)


def test_the_same_scheduler_repeats_the_record(path: Path) -> None:
    def what(cluster: InMemoryCluster, simulation: Simulation) -> None:
        for number in range(6):
            come(cluster, f"p{number}", "2", "25")
            simulation.run_until(simulation.now + 10)
        cluster.delete(Pod, "default/p5", grace_period_seconds=0)
        simulation.run_until(100)

    result = rerun_of(path, what)
    assert result.ours == result.theirs
    assert result.ours.placed == 6
    assert result.seconds == 100
    assert result.notices == ()
    # Five ran for 25 seconds, and one for 10, on 2 of 8 CPUs.
    assert result.ours.utilisation["cpu"] == pytest.approx(135 * 2 / (100 * 8))


def test_another_configuration_leads_to_other_results(path: Path) -> None:
    def what(cluster: InMemoryCluster, simulation: Simulation) -> None:
        for name, cpu in (("a", "1"), ("b", "1"), ("large", "4")):
            come(cluster, name, cpu)
            simulation.run_until(simulation.now + 10)

    result = rerun_of(path, what, "bin-packing")
    theirs: Course = result.theirs
    assert (theirs.placed, theirs.waiting) == (2, 1)
    assert (result.ours.placed, result.ours.waiting) == (3, 0)
    assert result.ours.utilisation["cpu"] > theirs.utilisation["cpu"]
    assert {
        placement.pod: placement.bound for placement in result.result.placements
    } == {
        "default/a": 0,
        "default/b": 10,
        "default/large": 20,
    }


def test_workloads_get_the_pods_of_the_record_and_no_others(path: Path) -> None:
    def what(cluster: InMemoryCluster, simulation: Simulation) -> None:
        pod = make_pod(requests={"cpu": "1"})
        cluster.create(make_deployment(name="web", replicas=3, pod=pod))
        simulation.run_until(10)

    result = rerun_of(path, what)
    assert result.result.pods == 3
    assert result.ours == result.theirs


def test_volumes_follow_where_pods_go(path: Path) -> None:
    def what(cluster: InMemoryCluster, simulation: Simulation) -> None:
        cluster.create(make_persistent_volume_claim(name="data"))
        cluster.create(make_pod(name="db", claims=["data"]))
        simulation.run_until(10)

    result = rerun_of(path, what)
    assert (result.ours.placed, result.ours.waiting) == (1, 0)
    assert result.notices == ()
