"""Replay of decisions about pods whose extended resources are devices."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from quaymaster.config import declared_kinds, default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.recording import (
    Agreement,
    ClusterRecorder,
    RecordWriter,
    replay,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import (
    make_device_class,
    make_node,
    make_pod,
    make_resource_slice,
)
from tests.kit.internals.recording import Added, Line, RecordFile

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
KINDS = declared_kinds(CONFIG, REGISTRY)
GPU = "example.com/gpu"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A record of three pods that ask for a device each, where two nodes have one."""
    cluster = InMemoryCluster(VirtualClock())
    cluster.load([make_device_class(extended_resource_name=GPU)])
    for name in ("a", "b"):
        cluster.load([make_node(name=name), make_resource_slice(node=name)])
    path = tmp_path / "record.jsonl"
    with (
        RecordWriter(path) as writer,
        Simulation(cluster, config=CONFIG, registry=REGISTRY) as simulation,
    ):
        recorder = ClusterRecorder(cluster, writer.write, declared=KINDS)
        for number in range(3):
            amounts = {"cpu": "1", GPU: "1"}
            cluster.create(
                make_pod(name=f"pod-{number}", requests=amounts, limits={GPU: "1"})
            )
            simulation.run_until(simulation.now + 5)
        recorder.close()
    return path


def with_claims_first(lines: Sequence[Line]) -> list[Line]:
    """Put each claim before its pod, as a watch that is ahead of another one does."""
    ordered: list[Line] = []
    for line in lines:
        if isinstance(line, Added) and line.kind.startswith("ResourceClaim."):
            owner = line.object["metadata"]["ownerReferences"][0]["name"]
            index = next(
                number
                for number, other in enumerate(ordered)
                if isinstance(other, Added)
                and other.kind == "Pod"
                and other.object["metadata"]["name"] == owner
            )
            ordered.insert(index, line)
        else:
            ordered.append(line)
    return ordered


def agreements(path: Path) -> list[Agreement]:
    result = replay(path, config=CONFIG, registry=REGISTRY)
    return [decision.agreement for decision in result.decisions]


def test_claims_that_the_scheduler_created_take_no_part_in_their_decision(
    path: Path,
) -> None:
    result = replay(path, config=CONFIG, registry=REGISTRY)
    assert result.differing() == []
    nodes = [decision.theirs.node for decision in result.decisions]
    assert sorted(nodes[:2]) == ["a", "b"]
    assert "cannot allocate all claims" in result.decisions[2].theirs.message


def test_claims_that_were_recorded_before_their_pods_hold_devices_afterwards(
    path: Path, tmp_path: Path
) -> None:
    before = agreements(path)
    other = tmp_path / "other.jsonl"
    with RecordWriter(other) as writer:
        for line in with_claims_first(list(RecordFile(path).lines())):
            writer.write(line)
    assert Agreement.DIFFERS not in before
    assert Agreement.DIFFERS not in agreements(other)
