"""``quaymaster extender`` reloads its configuration file."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from quaymaster import NodeInfo, Status, hookimpl
from quaymaster.config import ConfigWatcher, load_config
from quaymaster.objects import to_wire
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.documents import YAML_HEADER
from tests.kit.internals.extender_server import ExtenderService, NodesRequest

TAINTED = make_node(name="n", taints=["a=b:NoSchedule"])
LENIENT = YAML_HEADER + "profiles:\n- plugins: {filter: {disabled: [{name: '*'}]}}\n"
STRICT = YAML_HEADER
BAD = YAML_HEADER + "profiles:\n- plugins: {filter: {enabled: [{name: Harbor}]}}\n"


class Harbour:
    """Rejects all nodes."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status:
        return Status.unschedulable(f"{node.name} is closed")


def test_the_service_keeps_its_nodes_and_answers_by_the_new_plugins(
    tmp_path: Path,
) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(LENIENT)
    registry = PluginRegistry.discover().with_plugin(Harbour, "Harbour")
    clock = VirtualClock()
    service = ExtenderService(
        load_config(path, registry), registry, [make_node(name="n")], clock=clock
    )
    watcher = ConfigWatcher(path, registry, service, clock)
    watcher.start()
    request = NodesRequest(pod=make_pod(), names=["n"])
    assert service.filter(request).passed == ["n"]
    extenders = 'extenders: [{urlPrefix: "http://127.0.0.1:1", filterVerb: filter}]\n'
    path.write_text(extenders + BAD.replace("Harbor", "Harbour"))
    clock.advance(5.0)
    assert service.filter(request).passed == ["n"]  # requested, but not yet in force
    service.catch_up()
    assert service.filter(request).failed == {"n": "n is closed"}
    assert len(service.config.extenders) == 1
    path.write_text(BAD)
    clock.advance(5.0)
    service.catch_up()
    assert watcher.error is not None
    assert service.filter(request).failed == {"n": "n is closed"}


@contextmanager
def serving(
    path: Path, manifest: Path
) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    quaymaster = shutil.which("quaymaster", path=str(Path(sys.executable).parent))
    assert quaymaster is not None
    command = [quaymaster, "extender", str(manifest), "--config", str(path)]
    with subprocess.Popen(
        [*command, "--bind", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield process, int(line.rsplit(":", 1)[-1])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def passing(port: int) -> list[str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = {"Pod": to_wire(make_pod()), "NodeNames": ["n"]}
    connection.request("POST", "/filter", json.dumps(body).encode())
    answer: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    assert answer["Error"] == ""
    names: list[str] = answer["NodeNames"]
    return names


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no SIGHUP")
def test_a_signal_makes_the_command_check_its_file_at_once(tmp_path: Path) -> None:
    path, manifest = tmp_path / "scheduler.yaml", tmp_path / "nodes.json"
    path.write_text(STRICT)
    manifest.write_text(json.dumps(to_wire(TAINTED)))
    with serving(path, manifest) as (process, port):
        assert process.stderr is not None
        assert passing(port) == []
        path.write_text(LENIENT)
        process.send_signal(signal.SIGHUP)
        line = process.stderr.readline()
        assert line.startswith(f"{path}: reloaded (sha256:")
        assert line.endswith("): profile 'default-scheduler' changed\n")
        assert passing(port) == ["n"]
        path.write_text(BAD)
        process.send_signal(signal.SIGHUP)
        assert "the old configuration stays in force:" in process.stderr.readline()
        assert process.stderr.readline().startswith(
            f"  {path}: profiles[0].plugins.filter.enabled[0].name: "
            "unknown plugin 'Harbor'"
        )
        assert passing(port) == ["n"]
    assert process.returncode == 0
