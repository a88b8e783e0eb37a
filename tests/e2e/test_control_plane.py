"""The control plane of the tests works, and ends when it must."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quaymaster.testing import make_node, make_pod
from tests.e2e.client import ApiClient, RefusedError, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.processes import Program, eventually

_ORPHANS = """
import pathlib, sys, time
from tests.e2e.control_plane import ControlPlane
with ControlPlane() as plane:
    print(plane.etcd.pid, plane.apiserver.pid, flush=True)
    time.sleep(600)
"""


def state_of(pid: int) -> str:
    """Return the state letter of a process in Linux: Z for ended, T for stopped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def is_alive(pid: int) -> bool:
    return state_of(pid) not in ("", "Z")


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_a_pod_is_scheduled_runs_and_goes(
    control_plane: ControlPlane, admin: ApiClient
) -> None:
    node = admin.create(make_node(name="quay-1"))
    pod = admin.create(make_pod(name="ship"))
    path = path_of(pod)
    with control_plane.kubelets(), control_plane.scheduler():
        eventually(lambda: admin.get(path)["status"]["phase"] == "Running")
        assert admin.get(path)["spec"]["nodeName"] == "quay-1"
        admin.delete(path)
        eventually(lambda: not admin.items("/api/v1/namespaces/default/pods"))
    admin.delete(path_of(node))


def test_users_may_do_what_they_are_granted_and_requests_are_recorded(
    servers: None,
) -> None:
    with ControlPlane(users={"pilot": []}, audit=True) as plane:
        with pytest.raises(RefusedError, match="cannot list resource"):
            plane.client("pilot").items("/api/v1/nodes")
        codes = [
            event["responseStatus"]["code"]
            for event in plane.audit_events()
            if event["user"]["username"] == "pilot"
        ]
    assert codes == [403]


def test_an_api_server_comes_back_with_what_it_knew(
    control_plane: ControlPlane, admin: ApiClient
) -> None:
    pod = admin.create(make_pod(name="moored"))
    control_plane.apiserver.kill()
    with pytest.raises(OSError, match="refused"):
        control_plane.client().get(path_of(pod))
    control_plane.apiserver.start()
    assert admin.get(path_of(pod))["metadata"]["uid"] == pod["metadata"]["uid"]
    admin.delete(path_of(pod))


def test_a_compacted_history_cannot_be_followed(
    control_plane: ControlPlane, admin: ApiClient
) -> None:
    pod = admin.create(make_pod(name="logged"))
    since = pod["metadata"]["resourceVersion"]
    admin.delete(path_of(pod))
    control_plane.compact()
    control_plane.apiserver.restart()  # it keeps its own history
    events = admin.watch("/api/v1/pods", since=since, within=5)
    kind, status = next(events)
    assert (kind, status["code"]) == ("ERROR", 410)


@on_linux
def test_a_paused_program_does_nothing_until_it_goes_on(
    control_plane: ControlPlane, admin: ApiClient
) -> None:
    server = control_plane.apiserver
    server.pause()
    eventually(lambda: state_of(server.pid) == "T")
    server.resume()
    assert admin.items("/api/v1/nodes") == []
    assert server.cpu_seconds() > 0


@on_linux
def test_all_servers_end_when_their_creator_is_killed(servers: None) -> None:
    creator = subprocess.Popen(
        [sys.executable, "-c", _ORPHANS], stdout=subprocess.PIPE, text=True
    )
    assert creator.stdout is not None
    with creator.stdout as output:
        pids = [int(word) for word in output.readline().split()]
    assert len(pids) == 2
    assert all(map(is_alive, pids))
    os.kill(creator.pid, signal.SIGKILL)
    creator.wait()
    eventually(lambda: not any(map(is_alive, pids)))


def test_a_program_that_ends_at_once_says_its_last_words(tmp_path: Path) -> None:
    program = Program([sys.executable, "-c", "exit('aground')"], tmp_path / "log")
    program.start(wait=False)
    assert program.wait() == 1
    assert "aground" in program.log.read_text()
