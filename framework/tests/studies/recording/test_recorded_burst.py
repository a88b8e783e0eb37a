"""Bursts that a real kube-scheduler decided on a busy machine.

Each is of 300 pods of two priorities, recorded from servers of Kubernetes 1.36.2 or
1.37.2 that shared two processors with much else.
"""

from pathlib import Path

import pytest

from quaymaster.config import Kubernetes, default_config
from quaymaster.recording import ReplayResult, replay
from quaymaster.scheduler import PluginRegistry

DATA = Path(__file__).parent / "data"
BURST = 300
FAR = 64


def replayed(name: str, version: str = "1.36") -> ReplayResult:
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=Kubernetes(version))
    return replay(DATA / name, config=config, registry=registry)


@pytest.mark.long
def test_decisions_are_explained_whose_bindings_were_seen_much_later() -> None:
    result = replayed("burst-on-a-busy-machine.jsonl.gz")
    assert len(result.decisions) == BURST
    assert result.differing() == []
    assert max(result.widths()) > FAR


@pytest.mark.long
def test_decision_is_explained_among_others_that_nearer_ones_explain() -> None:
    # Of pod-058 within eight decisions, not within four, and not among sixteen.
    result = replayed("burst-in-another-order.jsonl.gz")
    assert len(result.decisions) == BURST
    assert result.differing() == []


@pytest.mark.long
def test_decisions_are_explained_that_were_recorded_seconds_apart() -> None:
    # Recording paused for 1.7 s: bindings of one second of the API server are on
    # both sides, and the queue shows that the later ones were decided first.
    result = replayed("burst-while-recording-stood-still.jsonl.gz", "1.37")
    assert len(result.decisions) == BURST
    assert result.differing() == []
