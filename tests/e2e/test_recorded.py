"""A record of what kube-scheduler does is decided again in the same way."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quaymaster.config import default_config
from quaymaster.recording import Agreement, record, replay
from quaymaster.scheduler import PluginRegistry
from tests.e2e.control_plane import ControlPlane
from tests.e2e.mixed_pods import arrivals
from tests.e2e.one_by_one import JudgedByQuaymaster
from tests.e2e.processes import eventually
from tests.e2e.scene import FLAGS, Scene
from tests.e2e.scheduler_log import TALKATIVE, SchedulerLog
from tests.e2e.verdicts import Adviser

NODES = 20
SEED = 17


@contextmanager
def recording(plane: ControlPlane, file: Path) -> Iterator[None]:
    """Record a cluster while something happens there, from its beginning on."""
    stop, has_begun = threading.Event(), threading.Event()

    def follow(objects: int, _lines: int) -> None:
        if objects >= NODES:
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


def test_decisions_of_kube_scheduler_are_made_again(
    servers: None, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    count: int = pytestconfig.getoption("--decisions", 60)
    file = tmp_path / "record.jsonl.gz"
    with (
        ControlPlane(tmp_path / "plane", apiserver_flags=FLAGS) as plane,
        Scene(plane, nodes=NODES, seed=SEED) as scene,
        recording(plane, file),
        plane.scheduler(None, TALKATIVE) as theirs,
        Adviser(plane.kubeconfig()) as adviser,
    ):
        trial = JudgedByQuaymaster(scene, SchedulerLog(theirs.log), adviser, tmp_path)
        coming = arrivals(count, nodes=NODES, seed=SEED, broken_volumes=False)
        assert trial.run(coming) == []
    registry = PluginRegistry.discover()
    result = replay(file, config=default_config(registry), registry=registry)
    counts = {one.value: number for one, number in result.counts().items()}
    size = file.stat().st_size
    sys.stderr.write(f"{counts}, {size} bytes for {result.pods} pods\n")
    assert len(result.decisions) >= count
    told = (Agreement.DIFFERS, Agreement.REASONS)
    assert [one for one in result.decisions if one.agreement in told] == []
