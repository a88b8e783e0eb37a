"""Records a real cluster, and replays the record."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quaymaster.config import default_config
from quaymaster.recording import ReplayResult, record, replay
from quaymaster.scheduler import PluginRegistry
from tests.e2e.binaries import SERVED
from tests.e2e.control_plane import ControlPlane
from tests.e2e.processes import eventually

__all__ = ["recording", "replayed"]


@contextmanager
def recording(plane: ControlPlane, file: Path, *, objects: int) -> Iterator[None]:
    """Record a cluster from its beginning until the end of the block.

    Args:
        plane: The cluster.
        file: The file to write.
        objects: The number of objects that it has at least.
    """
    stop, has_begun = threading.Event(), threading.Event()

    def follow(listed: int, _lines: int) -> None:
        if listed >= objects:
            has_begun.set()

    def work() -> None:
        kubeconfig = str(plane.kubeconfig())
        record(file, kubeconfig=kubeconfig, stop=stop, on_progress=follow)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        eventually(has_begun.is_set, what="the beginning of the record")
        yield
    finally:
        stop.set()
        thread.join()


def replayed(file: Path) -> ReplayResult:
    """Decide again what kube-scheduler has decided, and print how often both agree."""
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=SERVED)
    result = replay(file, config=config, registry=registry)
    counts = {agreement.value: number for agreement, number in result.counts().items()}
    size = file.stat().st_size
    sys.stderr.write(
        f"{counts}, {result.tried()} tried, {dict(result.widths())}, "
        f"{size} bytes for {result.pods} pods\n"
    )
    return result
