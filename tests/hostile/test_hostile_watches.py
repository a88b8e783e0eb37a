"""``run`` survives watches and bindings that misbehave, and binds what comes after."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.hostile.watches import BINDINGS, WATCHES, WatchedServer, serving
from tests.kit.nightly import sampled

CONFIG: Final = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False},
}
PATIENCE: Final = 60  # seconds; only a scheduler that never recovers takes so long


def texts_of_run(server: WatchedServer, folder: Path) -> str:
    """Run a scheduler until it has bound the last pod; return what it printed."""
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG))
    program = Path(sys.executable).with_name("quaymaster")
    with serving(server, folder) as kubeconfig:
        files = ("--kubeconfig", str(kubeconfig), "--config", str(config))
        process = subprocess.Popen(
            [str(program), "run", *files, "--secure-port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            is_bound = server.has_bound.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
            process.communicate()
    assert is_bound, printed
    assert process.returncode == 0, printed
    return printed


def assert_clean(printed: str) -> None:
    assert "Traceback" not in printed
    assert "SECRET-TOKEN" not in printed
    assert "\x1b" not in printed
    lines = printed.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines), default=0) < 4000


@pytest.mark.parametrize("mode", sampled(WATCHES, step=2))
def test_pod_after_a_hostile_watch_is_bound(mode: str, tmp_path: Path) -> None:
    assert_clean(texts_of_run(WatchedServer(lines=WATCHES[mode]), tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("mode", BINDINGS)
def test_refused_binding_is_tried_again(mode: str, tmp_path: Path) -> None:
    assert_clean(texts_of_run(WatchedServer(refusal=BINDINGS[mode]), tmp_path))
