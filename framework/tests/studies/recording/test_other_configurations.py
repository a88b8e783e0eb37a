"""A record that is replayed with a configuration that decides otherwise."""

from pathlib import Path

import pytest

from quaymaster.config import load_config
from quaymaster.recording import Agreement, record_simulation, replay
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_node, make_pod

REGISTRY = PluginRegistry.discover()


@pytest.mark.long
def test_time_grows_with_the_decisions_although_nearly_all_differ(
    tmp_path: Path,
) -> None:
    capacity = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    nodes = [make_node(name=f"n{number}", capacity=capacity) for number in range(6)]
    pods = [
        make_pod(name=f"p{number}", requests={"cpu": f"{100 + 10 * number}m"})
        for number in range(24)
    ]
    file = tmp_path / "record.jsonl"
    record_simulation([*nodes, *pods], file, registry=REGISTRY)
    packed = load_config("bin-packing", REGISTRY)
    replayed = replay(file, config=packed, registry=REGISTRY)
    assert replayed.counts()[Agreement.DIFFERS] > len(pods) / 2
    # Any set of the other decisions may have come before: there are 2**23.
    assert max(decision.tried for decision in replayed.decisions) < 2**10
