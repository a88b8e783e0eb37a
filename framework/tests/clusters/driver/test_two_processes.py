"""The scheduler's two processes: each reacts when the other ends or fails."""

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quaymaster import Pod
from quaymaster.cluster import ApiError, ListPendingError, UnknownOutcomeError
from quaymaster.testing import make_pod
from tests.kit.internals.driver import (
    IO_PROGRAM,
    Begin,
    FrameSocket,
    KubernetesCluster,
    Link,
    Message,
    ToEngine,
)
from tests.kit.streaming_server import StreamingServer, streaming_server

MESSAGES: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(ToEngine)


@pytest.fixture
def reached(tmp_path: Path) -> Iterator[tuple[StreamingServer, KubernetesCluster]]:
    with streaming_server(tmp_path) as (server, kubeconfig):
        server.put("a")
        begin = Begin(kubeconfig=str(kubeconfig))
        with closing(KubernetesCluster(begin)) as cluster:
            yield server, cluster


@pytest.mark.long
def test_the_engine_gets_the_servers_objects_and_their_changes(
    reached: tuple[StreamingServer, KubernetesCluster],
) -> None:
    server, cluster = reached
    assert listed_by(cluster) == ["default/a"]
    notified = threading.Event()
    watch = cluster.watch(Pod, 0, notified.set)
    server.change(lambda: server.put("b"))
    assert notified.wait(10)
    [event] = watch.take()
    assert (event.type.name, event.object.key) == ("ADDED", "default/b")


@pytest.mark.long
def test_calls_under_way_are_in_doubt_when_the_process_is_killed(
    reached: tuple[StreamingServer, KubernetesCluster],
) -> None:
    server, cluster = reached
    ended = threading.Event()
    cluster.at_end(ended.set)
    assert listed_by(cluster) == ["default/a"]  # wait until it has started

    def kill(_path: str) -> None:
        os.kill(cluster.io_process, signal.SIGKILL)

    server.held = kill
    with pytest.raises(UnknownOutcomeError, match=r"has ended \(by signal 9\)"):
        cluster.bind(make_pod(name="a"), "node")
    assert ended.wait(10)
    assert "(by signal 9)" in cluster.end
    with pytest.raises(UnknownOutcomeError, match="has ended"):
        cluster.bind(make_pod(name="a"), "node")
    with pytest.raises(ApiError, match="has ended"):
        cluster.list(Pod)


@pytest.mark.long
@pytest.mark.parametrize("is_stopped", [False, True], ids=["running", "stopped"])
def test_the_process_ends_with_the_engine(is_stopped: bool, tmp_path: Path) -> None:
    with streaming_server(tmp_path) as (_, kubeconfig):
        ours, process = io_process()
        FrameSocket(ours, MESSAGES).send(Begin(kubeconfig=str(kubeconfig)))
        if is_stopped:
            process.send_signal(signal.SIGSTOP)
        ours.close()
        if is_stopped:
            process.send_signal(signal.SIGCONT)
        process.communicate(timeout=10)
        assert process.returncode == 0


@pytest.mark.long
def test_an_invalid_message_of_the_engine_ends_the_process() -> None:
    ours, process = io_process()
    with ours:
        ours.sendall(struct.pack("<I", 1) + b"\xc1")
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 1
    assert errors.startswith("an invalid message: ")
    assert "Traceback" not in errors


@pytest.mark.long
def test_the_process_logs_as_the_engine_does(tmp_path: Path) -> None:
    ours, process = io_process()
    begin = Begin(kubeconfig=str(tmp_path / "none"), log_format="json")
    with ours:
        FrameSocket(ours, MESSAGES).send(begin)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    lines = [msgspec.json.decode(line) for line in errors.splitlines()]
    assert [line["level"] for line in lines] == ["error"]
    assert "none" in lines[0]["msg"]


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (
            "\\x01\\x00\\x00\\x00\\xc1",
            "the I/O process sent an invalid message",
        ),
        ("GET / HTTP/1.1", "the I/O process sent a frame of"),
        ("", "the I/O process has ended"),
    ],
    ids=["no message", "no frame", "nothing"],
)
def test_an_invalid_message_of_the_process_is_reported(sent: str, why: str) -> None:
    program = (
        "import socket, sys;"
        f"socket.socket(fileno=int(sys.argv[1])).sendall('{sent}'.encode('latin-1'))"
    )
    whys = ended_with((sys.executable, "-c", program))
    assert whys.startswith(why)


def listed_by(cluster: KubernetesCluster) -> list[str]:
    """Return the keys of all pods once they are listed."""
    while True:
        try:
            return [pod.key for pod in cluster.list(Pod).items]
        except ListPendingError as pending:
            there = threading.Event()
            pending.ask_again(there.set)
            assert there.wait(10)


def io_process() -> tuple[socket.socket, "subprocess.Popen[str]"]:
    """An I/O process, and the engine's end of its socket."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            (*IO_PROGRAM, str(theirs.fileno())),
            pass_fds=(theirs.fileno(),),
            stderr=subprocess.PIPE,
            text=True,
        )
    return ours, process


def ended_with(program: tuple[str, ...]) -> str:
    """Return the reason with which the link to a program ends."""
    whys: list[str] = []
    over = threading.Event()

    def ended(why: str) -> None:
        whys.append(why)
        over.set()

    def receive(message: Message) -> None:
        raise AssertionError(message)

    link = Link(Begin(), receive, ended, program)
    assert over.wait(10)
    link.close()
    return whys[0]
