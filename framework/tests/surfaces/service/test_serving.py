"""The service starts, answers, refreshes its input and ends."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.kit.certificates import make_certificate
from tests.kit.internals.service import AddressError, listen, url_of

NODE = """
---
apiVersion: v1
kind: Node
metadata: {name: %s}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
"""
FITS = {
    "fits": True,
    "placed": 1,
    "asked": 1,
    "pods": [{"pod": "default/more", "node": "one"}],
}
PATIENCE = 60  # seconds, on a busy machine


@attrs.frozen
class Service:
    """A service that runs."""

    process: "subprocess.Popen[str]"
    port: int
    token: str
    tls: ssl.SSLContext | None = None

    def connect(self) -> http.client.HTTPConnection:
        if self.tls is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, PATIENCE)
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=PATIENCE, context=self.tls
        )

    def ask(self, token: str | None = None) -> tuple[int, Any]:
        """Ask for a fit on a new connection."""
        with closing(self.connect()) as connection:
            answer = ask_on(connection, self.token if token is None else token)
            return answer.status, json.loads(answer.read())

    def health(self) -> dict[str, Any]:
        with closing(self.connect()) as connection:
            connection.request("GET", "/healthz")
            found: dict[str, Any] = json.loads(connection.getresponse().read())
            return found

    def wait_for(self, is_there: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read the health until it has the expected value."""
        end = time.monotonic() + PATIENCE
        while not is_there(health := self.health()):
            assert time.monotonic() < end, health
        return health


def ask_on(
    connection: http.client.HTTPConnection, token: str
) -> http.client.HTTPResponse:
    body = json.dumps({"pods": [{"line": "cpu=3"}]})
    connection.request("POST", "/v1/fit", body, {"Authorization": f"Bearer {token}"})
    return connection.getresponse()


@contextmanager
def serving(*arguments: str, tls: ssl.SSLContext | None = None) -> Iterator[Service]:
    """Run a service."""
    command = [sys.executable, "-m", "quaymaster", "serve", "--bind", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline().rpartition(":")[2])
        token = process.stdout.readline().partition(": ")[2].strip()
        yield Service(process, port, token, tls)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "nodes.yaml"
    path.write_text(NODE % "one", encoding="utf-8")
    return path


def add_node(file: Path, name: str) -> None:
    """Replace a file by one with an additional node."""
    new = file.with_suffix(".new")
    new.write_text(file.read_text(encoding="utf-8") + NODE % name, encoding="utf-8")
    new.replace(file)


@pytest.mark.long
def test_two_workers_answer_until_they_are_stopped(file: Path) -> None:
    with serving(str(file), "--workers", "2") as service:
        assert service.ask() == (200, FITS)
        assert all(service.ask() == (200, FITS) for _ in range(4))
        assert service.ask("wrong")[0] == 401
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(PATIENCE) == 0


@pytest.mark.long
def test_after_a_hangup_all_workers_use_the_new_input(file: Path) -> None:
    with serving(str(file), "--workers", "2") as service:
        add_node(file, "two")
        service.process.send_signal(signal.SIGHUP)
        health = service.wait_for(lambda health: health["nodes"] == 2)
        assert health["input"]["refreshes"] == 1
        end = time.monotonic() + PATIENCE
        while {service.health()["nodes"] for _ in range(20)} != {2}:
            assert time.monotonic() < end


@pytest.mark.long
def test_a_client_that_stays_connected_loses_no_answer_by_a_refresh(
    file: Path,
) -> None:
    with serving(str(file)) as service, closing(service.connect()) as connection:
        assert ask_on(connection, service.token).read()
        add_node(file, "two")
        service.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + PATIENCE
        is_told_to_leave = False
        while not is_told_to_leave:
            answer = ask_on(connection, service.token)
            assert answer.status == 200
            is_told_to_leave = answer.getheader("Connection") == "close"
            answer.read()
            assert time.monotonic() < end
        # The library reconnects by itself.
        assert json.loads(ask_on(connection, service.token).read())["fits"]
        assert service.health()["nodes"] == 2


@pytest.mark.long
def test_a_broken_input_leaves_the_old_one_and_is_reported(file: Path) -> None:
    with serving(str(file), "--workers", "2") as service:
        file.write_text("kind: [", encoding="utf-8")
        service.process.send_signal(signal.SIGHUP)
        health = service.wait_for(lambda health: health["status"] == "stale")
        assert (health["nodes"], health["input"]["failures"]) == (1, 1)
        assert "nodes.yaml" in health["input"]["error"]
        assert service.ask() == (200, FITS)
        file.unlink()
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(lambda health: health["input"]["failures"] == 2)
        file.write_text(NODE % "one", encoding="utf-8")
        service.process.send_signal(signal.SIGHUP)
        health = service.wait_for(lambda health: health["status"] == "ok")
        assert (health["input"]["failures"], health["input"]["error"]) == (0, "")
        service.process.send_signal(signal.SIGTERM)
        _, errors = service.process.communicate(timeout=PATIENCE)
        assert errors.count("not refreshed, the old input stays: ") == 2


@pytest.mark.long
def test_it_reads_its_input_periodically(file: Path) -> None:
    with serving(str(file), "--refresh", "0.01") as service:
        add_node(file, "two")
        service.wait_for(lambda health: health["nodes"] == 2)
        add_node(file, "three")
        service.wait_for(lambda health: health["nodes"] == 3)


@pytest.mark.long
def test_a_worker_that_ends_by_itself_ends_the_service(file: Path) -> None:
    with serving(str(file), "--workers", "2") as service:
        assert service.ask() == (200, FITS)
        children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}")
        worker = int((children / "children").read_text().split()[0])
        os.kill(worker, signal.SIGKILL)
        _, errors = service.process.communicate(timeout=PATIENCE)
        assert service.process.returncode == 2
        assert "a worker has ended unexpectedly, with code -9" in errors


@pytest.mark.long
def test_it_serves_tls_with_the_current_certificate(file: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        make_certificate(folder)
    files = [f"--tls-cert-file={first}/cert.pem"]
    files += [f"--tls-private-key-file={first}/key.pem"]
    with serving(str(file), *files, tls=trusting(first)) as service:
        assert service.ask() == (200, FITS)
        for name in ("key.pem", "cert.pem"):
            (second / name).replace(first / name)
        renewed = attrs.evolve(service, tls=trusting(first))
        assert renewed.ask() == (200, FITS)
        with pytest.raises(ssl.SSLCertVerificationError):
            service.ask()


def trusting(folder: Path) -> ssl.SSLContext:
    """Return a TLS context that ignores the host name of the certificate."""
    context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
    context.check_hostname = False
    return context


def test_answers_are_sent_at_once() -> None:
    """asyncio enables Nagle's algorithm on connections without the protocol TCP."""
    (opened,) = listen("127.0.0.1", 0)
    with closing(opened):
        assert opened.proto == socket.IPPROTO_TCP


def test_clients_are_distributed_among_sockets_of_one_address() -> None:
    opened = listen("127.0.0.1", 0, 2)
    port = opened[0].getsockname()[1]
    assert len({connection.fileno() for connection in opened}) == (
        2 if on_linux() else 1
    )
    assert url_of(opened[1], has_tls=False) == f"http://127.0.0.1:{port}"
    with pytest.raises(AddressError, match=f"127.0.0.1:{port}: Address already in use"):
        listen("127.0.0.1", port, 2)
    for connection in opened:
        connection.close()


def on_linux() -> bool:
    return sys.platform == "linux"


def test_an_address_of_another_server_is_not_shared() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(AddressError, match="Address already in use"):
            listen("127.0.0.1", port, 2)
