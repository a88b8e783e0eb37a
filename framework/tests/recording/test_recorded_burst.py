"""A burst that a real kube-scheduler decided, on a machine that was busy."""

from pathlib import Path

from quaymaster.config import Kubernetes, default_config
from quaymaster.recording import replay
from quaymaster.scheduler import PluginRegistry

# 300 pods of two priorities, recorded from servers of Kubernetes 1.36.2 that shared two
# processors with much else: some decisions were made eighty before they were seen.
RECORD = Path(__file__).parent / "data" / "burst-on-a-busy-machine.jsonl.gz"
FAR = 64


def test_decisions_are_explained_whose_bindings_were_seen_much_later() -> None:
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=Kubernetes("1.36"))
    result = replay(RECORD, config=config, registry=registry)
    assert len(result.decisions) == 300
    assert result.differing() == []
    assert max(result.widths()) > FAR
