"""A replay finds differences although bindings of a burst are seen out of order."""

from collections.abc import Iterable
from pathlib import Path
from random import Random

import msgspec
import pytest

from quaymaster import Node, Pod
from quaymaster.config import SchedulerConfig, default_config, load_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.recording import (
    Agreement,
    ClusterRecorder,
    RecordWriter,
    ReplayResult,
    replay,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_persistent_volume_claim, make_pod
from tests.kit.internals.recording import Line, Modified, RecordFile, Template

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
PODS = 80
REACH = 12
ZONE = "topology.kubernetes.io/zone"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.jsonl.gz"


def replayed(path: Path, config: SchedulerConfig) -> ReplayResult:
    return replay(path, config=config, registry=REGISTRY)


def wrong_weight(tmp_path: Path) -> SchedulerConfig:
    """Return the default profile with one other weight."""
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles:\n"
        "- plugins:\n"
        "    score:\n"
        "      disabled: [{name: NodeResourcesBalancedAllocation}]\n"
        "      enabled: [{name: NodeResourcesBalancedAllocation, weight: 5}]\n"
    )
    return load_config(file, REGISTRY)


def burst(path: Path, seed: int, priorities: list[int]) -> None:
    """Record pods that arrive faster than they are scheduled, in exact order."""
    random = Random(seed)
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(
        make_node(
            name=f"n{number:02}",
            capacity={
                "cpu": random.choice(["8", "12", "16"]),
                "memory": random.choice(["16Gi", "32Gi"]),
                "pods": "40",
            },
        )
        for number in range(15)
    )
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        with Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation:
            for number in range(PODS):
                cpu, memory = random.randint(1, 16), random.randint(1, 24)
                pod = make_pod(
                    name=f"p{number:02}",
                    requests={"cpu": f"{cpu}00m", "memory": f"{memory}00Mi"},
                    priority=random.choice(priorities),
                )
                cluster.create(pod)
                if number % 20 == 19:
                    simulation.run_until(simulation.now + 0.05)
        recorder.close()


def seen_out_of_order(path: Path, seed: int) -> Path:
    """Return the same record with each binding moved back by some places."""
    random = Random(seed)
    lines = list(RecordFile(path).lines())
    places = [index for index, line in enumerate(lines) if is_binding(line)]
    seen = sorted(places, key=lambda index: index + random.uniform(0, REACH))
    shuffled = path.with_name("shuffled.jsonl.gz")
    with RecordWriter(shuffled) as writer:
        at = dict(zip(places, seen, strict=True))
        for index, line in enumerate(lines):
            written = line
            if index in at:
                # Versions and times stay in the order of the server.
                other = lines[at[index]]
                assert isinstance(line, Modified)
                written = msgspec.structs.replace(
                    other, at=line.at, version=line.version
                )
            writer.write(written)
    return shuffled


def rewritten(path: Path, lines: Iterable[Line]) -> Path:
    """Write another record with these lines."""
    seen = path.with_name("seen.jsonl.gz")
    with RecordWriter(seen) as writer:
        for line in lines:
            writer.write(line)
    return seen


def is_binding(line: Line) -> bool:
    return isinstance(line, Modified) and "nodeName" in line.patch.get("spec", {})


def differing(result: ReplayResult) -> set[str]:
    return {decision.pod for decision in result.differing()}


@pytest.mark.long
def test_equal_pods_are_decided_in_the_order_of_their_arrival(
    path: Path,
) -> None:
    burst(path, 1, [0])
    result = replayed(seen_out_of_order(path, 1), CONFIG)
    counts = result.counts()
    assert counts[Agreement.SAME] + counts[Agreement.TIE] == PODS
    # The recorded queue decides on the order: nothing has to be assumed.
    assert result.tried() == 0


@pytest.mark.long
def test_wrong_weight_is_found_as_in_an_exact_record(path: Path) -> None:
    burst(path, 1, [0])
    wrong = wrong_weight(path.parent)
    exact = differing(replayed(path, wrong))
    assert len(exact) > PODS / 4
    result = replayed(seen_out_of_order(path, 1), wrong)
    assert differing(result) == exact
    assert result.counts()[Agreement.ORDER] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))]
)
def test_among_priorities_a_wrong_weight_is_rarely_mistaken_for_an_order(
    path: Path, seed: int
) -> None:
    burst(path, seed, [0, 0, 0, 5])
    seen = seen_out_of_order(path, seed)
    right = replayed(seen, CONFIG)
    assert differing(right) == set()
    # Important pods that come late may have been decided about before or after.
    assert 0 < right.counts()[Agreement.ORDER] == sum(right.widths().values())
    assert right.tried() >= right.counts()[Agreement.ORDER]

    wrong = wrong_weight(path.parent)
    exact, found = differing(replayed(path, wrong)), differing(replayed(seen, wrong))
    assert len(exact) > PODS / 4
    assert len(exact - found) <= len(exact) / 20


def test_watch_of_another_kind_may_be_ahead(path: Path) -> None:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load([make_node(name="a", capacity={"cpu": "4", "pods": "9"})])
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        cluster.create(make_pod(name="web", requests={"cpu": "1"}))
        pod = cluster.get(Pod, "default/web")
        cluster.bind(pod, "a")
        cluster.create(make_node(name="b", capacity={"cpu": "64", "pods": "9"}))
        recorder.close()
    lines = list(RecordFile(path).lines())
    bound = next(index for index, line in enumerate(lines) if is_binding(line))
    lines[bound], lines[bound + 1] = lines[bound + 1], lines[bound]
    [decision] = replayed(rewritten(path, lines), CONFIG).decisions
    # The watch of nodes was ahead of that of pods.
    assert (decision.agreement, decision.width) == (Agreement.ORDER, 1)


def test_decision_does_not_use_a_change_of_a_later_version(path: Path) -> None:
    """Theirs would be right once the other node is full, which happens too late."""
    cluster = InMemoryCluster(VirtualClock())
    small, large = {"cpu": "4", "pods": "9"}, {"cpu": "64", "pods": "9"}
    cluster.load([make_node(name="a", capacity=small)])
    cluster.create(make_node(name="b", capacity=large))
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        cluster.create(make_pod(name="web", requests={"cpu": "1"}))
        cluster.bind(cluster.get(Pod, "default/web"), "a")
        cluster.delete(Node, "b")
        recorder.close()
    [decision] = replayed(path, CONFIG).decisions
    assert decision.agreement is Agreement.DIFFERS
    assert decision.ours.node == "b"


def test_consequences_of_a_decision_may_be_seen_before_its_pod(path: Path) -> None:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(make_node(name=name, labels={ZONE: f"z-{name}"}) for name in "abc")
    cluster.create(make_persistent_volume_claim(name="data"))
    with RecordWriter(path) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        with Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation:
            cluster.create(make_pod(name="db", claims=["data"]))
            simulation.settle()
        recorder.close()
    *lines, end = RecordFile(path).lines()
    pod = next(place for place, line in enumerate(lines) if isinstance(line, Template))
    # The watch of claims is ahead of that of pods, and the one of volumes is behind.
    order = ["PersistentVolumeClaim", "Pod", "PersistentVolume"]
    since = sorted(
        lines[pod:], key=lambda line: order.index(getattr(line, "kind", "Pod"))
    )
    seen = rewritten(path, [*lines[:pod], *since, end])
    [decision] = replayed(seen, CONFIG).decisions
    # The scheduler had not seen the volume of the claim.
    assert (decision.agreement, decision.width) == (Agreement.ORDER, 1)
