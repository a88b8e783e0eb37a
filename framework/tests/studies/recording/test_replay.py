"""A replay repeats each decision of a record on the state of that time."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from quaymaster import Node, Pod
from quaymaster.config import SchedulerConfig, default_config, load_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.recording import (
    Agreement,
    ClusterRecorder,
    ComparedDecision,
    Decided,
    RecordWriter,
    ReplayProgress,
    ReplayResult,
    replay,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_persistent_volume_claim, make_pod
from tests.kit.internals.recording import Added, Begin, Modified, RecordFile, Template

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
ZONE = "topology.kubernetes.io/zone"

What = Callable[[InMemoryCluster, Simulation], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.jsonl.gz"


def nodes(count: int, cpu: str = "4") -> list[Node]:
    return [
        make_node(
            name=f"n{number}",
            labels={ZONE: f"z{number % 3}"},
            capacity={"cpu": cpu, "memory": "16Gi", "pods": "20"},
        )
        for number in range(count)
    ]


def recorded(path: Path, what: What, count: int = 6) -> None:
    """Record the changes of a cluster of some nodes."""
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(nodes(count))
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        with Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation:
            what(cluster, simulation)
            simulation.settle()
        recorder.close()


def replayed(path: Path, config: SchedulerConfig = CONFIG) -> ReplayResult:
    return replay(path, config=config, registry=REGISTRY)


def disagreements(result: ReplayResult) -> list[ComparedDecision]:
    agreed = (Agreement.SAME, Agreement.TIE)
    return [
        decision for decision in result.decisions if decision.agreement not in agreed
    ]


def come(
    cluster: InMemoryCluster, name: str, cpu: str = "1", priority: int = 0
) -> None:
    cluster.create(make_pod(name=name, requests={"cpu": cpu}, priority=priority))


def busy(cluster: InMemoryCluster, simulation: Simulation) -> None:
    """Create and delete pods of several priorities, with too little room for all."""
    random = Random(7)
    for number in range(60):
        name, cpu = f"p{number}", random.choice(["500m", "1", "2"])
        come(cluster, name, cpu, random.choice([0, 0, 0, 10]))
        if number % 6 == 5:
            simulation.run_until(simulation.now + random.choice([0.5, 1, 40]))
            running = [pod for pod in cluster.list(Pod).items if pod.node_name]
            cluster.delete(Pod, random.choice(running).key)
            simulation.run_until(simulation.now + 0.001)


@pytest.mark.long
def test_the_same_scheduler_decides_the_same_but_for_ties(path: Path) -> None:
    recorded(path, busy)
    result = replayed(path)
    assert disagreements(result) == []
    counts = result.counts()
    assert sum(counts.values()) == len(result.decisions) > 60
    assert any(decision.theirs.victims for decision in result.decisions)
    assert any(decision.theirs.message for decision in result.decisions)
    assert (result.pods, result.others) == (60, {})


def test_volumes_that_are_bound_after_the_decision_do_not_affect_it(
    path: Path,
) -> None:
    def what(cluster: InMemoryCluster, simulation: Simulation) -> None:
        for number in range(5):
            cluster.create(make_persistent_volume_claim(name=f"data-{number}"))
            pod = make_pod(
                name=f"db-{number}",
                requests={"cpu": "1"},
                claims=[f"data-{number}"],
            )
            cluster.create(pod)
            simulation.run_until(simulation.now + 5)

    recorded(path, what)
    result = replayed(path)
    assert disagreements(result) == []
    # If the volume had been there, only the nodes of its zone would have been left.
    assert result.decisions[0].best == 6


def test_another_configuration_differs_and_the_scores_show_why(
    path: Path, tmp_path: Path
) -> None:
    def what(cluster: InMemoryCluster, simulation: Simulation) -> None:
        for number in range(3):
            come(cluster, f"p{number}")
            simulation.run_until(simulation.now + 1)

    recorded(path, what)
    result = replayed(path, load_config("bin-packing", REGISTRY))
    assert [decision.agreement for decision in result.decisions] == [
        Agreement.TIE,
        Agreement.DIFFERS,
        Agreement.DIFFERS,
    ]
    differing = result.differing()[0]
    assert differing.ours.node == result.decisions[0].theirs.node
    assert differing.our_scores is not None
    assert differing.their_scores is not None
    assert differing.our_scores.total > differing.their_scores.total
    assert "NodeResourcesFit" in differing.our_scores.plugins
    assert any(remark.startswith("which of several") for remark in result.unknown)


def test_node_that_we_reject_is_reported_with_the_reason(path: Path) -> None:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load([*nodes(1), make_node(name="tainted", taints=["a=b:NoSchedule"])])
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        come(cluster, "stray")
        cluster.bind(cluster.get(Pod, "default/stray"), "tainted")
        recorder.close()
    [decision] = replayed(path).decisions
    assert decision.agreement is Agreement.DIFFERS
    assert decision.theirs == Decided(node="tainted")
    assert decision.ours == Decided(node="n0")
    assert decision.rejection is not None
    assert decision.rejection.plugin == "TaintToleration"


@pytest.mark.parametrize(
    ("priority", "agreement"),
    [
        # The first came first: so it was decided about first.
        (0, Agreement.SAME),
        # An important pod that came later may have been overtaking, or not.
        (10, Agreement.ORDER),
    ],
    ids=["known to the queue", "one of two"],
)
def test_decisions_in_another_order_than_the_bindings_are_recognised(
    path: Path, priority: int, agreement: Agreement
) -> None:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load([make_node(name="large", capacity={"cpu": "8"})])
    cluster.create(make_node(name="small", capacity={"cpu": "4"}))
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        if priority:
            come(cluster, "second", "3")
            come(cluster, "first", "6", priority)
        else:
            come(cluster, "first", "6")
            come(cluster, "second", "3")
        # With the first one on the large node, this is the only one for the second.
        cluster.bind(cluster.get(Pod, "default/second"), "small")
        cluster.bind(cluster.get(Pod, "default/first"), "large")
        recorder.close()
    agreements = {
        decision.pod: decision.agreement for decision in replayed(path).decisions
    }
    assert agreements == {
        "default/second": agreement,
        "default/first": Agreement.SAME,
    }


def test_pods_of_other_schedulers_are_counted_and_not_compared(path: Path) -> None:
    def what(cluster: InMemoryCluster, simulation: Simulation) -> None:
        pod = cluster.create(make_pod(name="theirs", scheduler_name="other"))
        cluster.bind(pod, "n0")
        cluster.create(make_pod(name="fixed", node="n1"))
        come(cluster, "ours")

    recorded(path, what)
    result = replayed(path)
    assert [decision.pod for decision in result.decisions] == ["default/ours"]
    assert result.others == {"other": 1}
    assert result.with_node == 1


def test_a_record_has_each_spec_once_and_of_changes_what_is_different(
    path: Path,
) -> None:
    def what(cluster: InMemoryCluster, simulation: Simulation) -> None:
        for number in range(4):
            come(cluster, f"p{number}")

    recorded(path, what)
    lines = list(RecordFile(path).lines())
    assert isinstance(lines[0], Begin)
    assert len([line for line in lines if isinstance(line, Template)]) == 1
    pods = [line for line in lines if isinstance(line, Added) and line.kind == "Pod"]
    assert [line.template for line in pods] == [0, 0, 0, 0]
    bound = [line for line in lines if isinstance(line, Modified)]
    assert all(set(line.patch) == {"spec", "status"} for line in bound)


@pytest.mark.long
def test_progress_counts_the_decisions(path: Path) -> None:
    recorded(path, busy)
    seen: list[tuple[int, int]] = []
    follow: ReplayProgress = lambda done, total: seen.append((done, total))  # noqa: E731 - it has its type
    result = replay(path, config=CONFIG, registry=REGISTRY, on_progress=follow)
    assert seen[0] == (64, len(result.decisions))
