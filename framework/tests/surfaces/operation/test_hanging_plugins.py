"""Plugins that never return: they are named, and the process ends when it must."""

import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quaymaster.testing import make_node, make_pod
from tests.kit.fake_api_server import fake_api_server, kubeconfig_for

PROGRAM = """
import ctypes, sys, time
from quaymaster import hookimpl
from quaymaster.config import parse_config
from quaymaster.kubernetes import KubernetesScheduler
from quaymaster.scheduler import PluginRegistry
from quaymaster._cli.signals import stopping, waking
from quaymaster._clusters.driver import engine_watch

engine_watch._REPORT_SECONDS, engine_watch._GRACE_SECONDS = 0.2, 1.0
engine_watch.EngineWatch.__init__.__kwdefaults__.update(
    report_seconds=0.2, grace_seconds=1.0
)
hook, how, kubeconfig = sys.argv[1:]

def hang(*_):
    print("hangs", flush=True)
    if how == "python":
        while True:  # one hook keeps a processor busy, and the others cost nothing
            if hook != "filter":
                time.sleep(0.01)
    while True:  # these calls hold the lock of the interpreter
        ctypes.PyDLL(None).sleep(600)

class Stuck:
    def __init__(self, args, handle):
        pass

NAMES = {HOOKS}
source = f"def {hook}(self, {NAMES[hook]}):\\n    hang()\\n"
names = {"hang": hang}
exec(compile(source, "stuck_plugin.py", "exec"), names)
setattr(Stuck, hook, hookimpl(names[hook]))
registry = PluginRegistry.discover().with_plugin(Stuck)
plugins = {"multiPoint": {"enabled": [{"name": "Stuck"}]}}
if hook == "bind":
    plugins["bind"] = {"disabled": [{"name": "*"}], "enabled": [{"name": "Stuck"}]}
config = parse_config({
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "harbour", "plugins": plugins}],
    "leaderElection": {"leaderElect": False},
}, registry)
with KubernetesScheduler(config, registry, kubeconfig=kubeconfig) as live:
    watch = live.cluster.engine_watch
    signals = waking(
        live.scheduler.wake,
        channel=(watch.receiver, watch.sender),
        note=live.cluster.note_signals,
    )
    with stopping(live.stopping.set, lambda: None), signals:
        live.run()
"""

PATIENCE = 300
"""Seconds that a busy machine may take for what takes one on an idle machine."""

HOOKS = {
    "pre_enqueue": "pod",
    "pre_filter": "state, pod, nodes",
    "filter": "state, pod, node",
    "pre_score": "state, pod, nodes",
    "score": "state, pod, node",
    "reserve": "state, pod, node_name",
    "permit": "state, pod, node_name",
    "pre_bind": "state, pod, node_name",
    "bind": "state, pod, node_name",
    "post_bind": "state, pod, node_name",
}
FEW_HOOKS = ["pre_enqueue", "filter", "score", "permit", "post_bind"]
"""One of each station; the nightly tests let all of them hang."""


def ended(hook: str, how: str, folder: Path) -> tuple[int, str]:
    """Run a scheduler until its plugin hangs, request it to stop, and wait."""
    pod = make_pod(name="web", scheduler_name="harbour")
    nodes = [make_node(name="quay"), make_node(name="pier")]
    folder = folder / hook
    folder.mkdir()
    with fake_api_server([*nodes, pod]) as server:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                textwrap.dedent(PROGRAM).replace("{HOOKS}", repr(HOOKS)),
                hook,
                how,
                str(kubeconfig_for(server, folder)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "hangs\n"
        lines: list[str] = []
        reported = threading.Event()

        def read() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                lines.append(line)
                if "so far" in line:
                    reported.set()

        reader = threading.Thread(target=read)
        reader.start()
        reported.wait(PATIENCE)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        reader.join(PATIENCE)
        process.stdout.close()
        process.stderr.close()
        return process.returncode, "".join(lines)


@pytest.mark.parametrize(
    ("how", "hooks"),
    [
        pytest.param("c", FEW_HOOKS, id="few in C", marks=pytest.mark.long),
        pytest.param("python", FEW_HOOKS, id="few in Python", marks=pytest.mark.long),
        pytest.param("c", [*HOOKS], id="all in C", marks=pytest.mark.nightly),
        # On a thread of their own, they may wait for other systems.
        pytest.param(
            "python",
            [hook for hook in HOOKS if hook not in ("pre_bind", "bind")],
            id="all in Python",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_hanging_hook_is_named_and_the_process_ends(
    how: str, hooks: list[str], tmp_path: Path
) -> None:
    # The processes mostly wait for seconds of silence, so they wait together.
    with ThreadPoolExecutor(max_workers=5) as pool:
        ends = pool.map(lambda hook: ended(hook, how, tmp_path), hooks)
        for hook, (code, errors) in zip(hooks, ends, strict=True):
            assert f"in {hook} of plugin 'Stuck'" in errors, hook
            assert "the attempt to schedule pod default/web has taken" in errors, hook
            assert "has not stopped 1 s after a signal" in errors, hook
            assert code == -signal.SIGKILL, hook
