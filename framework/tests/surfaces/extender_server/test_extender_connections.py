"""Connections of the extender server: limits, TLS and waiting."""

import contextlib
import http.client
import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.config import parse_config
from quaymaster.objects import to_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.extender_server import (
    ExtenderServer,
    ExtenderService,
    ServerOptions,
)
from tests.kit.internals.serving import CertificateError, ServerTLS, TLSFiles

QUESTION = json.dumps(
    {"Pod": to_wire(make_pod()), "Nodes": None, "NodeNames": ["n"]}
).encode()


class Pilot:
    """Calls a slow service, in the first filter and in the background."""

    arrived = threading.Event()
    released = threading.Event()
    blocks_filter = False

    def __init__(self, args: object, handle: Handle) -> None:
        self._handle = handle
        self._answers: list[str] = []
        self._has_asked = False

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        if not self._has_asked:
            self._has_asked = True
            self._handle.run_in_background(self._ask, self._take)
        if self.blocks_filter:
            self.arrived.set()
            self.released.wait(30)
        return Status.unschedulable(*self._answers) if self._answers else None

    def _ask(self) -> str:
        self.arrived.set()
        self.released.wait(30)
        return threading.current_thread().name

    def _take(self, answer: str) -> None:
        self._answers = [answer]


@pytest.fixture(autouse=True)
def pilot(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Pilot]]:
    monkeypatch.setattr(Pilot, "arrived", threading.Event())
    monkeypatch.setattr(Pilot, "released", threading.Event())
    yield Pilot
    Pilot.released.set()


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[ExtenderServer]:
    registry = PluginRegistry.discover().with_plugin(Pilot, "Pilot")
    plugins = {"filter": {"disabled": [{"name": "*"}], "enabled": [{"name": "Pilot"}]}}
    document = {
        **HEADER,
        "profiles": [{"plugins": plugins}],
    }
    config = parse_config(document, registry, source="test")
    service = ExtenderService(config, registry, [make_node(name="n")])
    with ExtenderServer(("127.0.0.1", 0), service, ServerOptions(**options)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            Pilot.released.set()
            server.shutdown()
            thread.join()


def connect(server: ExtenderServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)


def ask(
    connection: http.client.HTTPConnection, method: str = "POST", path: str = "/filter"
) -> tuple[int, str]:
    connection.request(method, path, QUESTION if method == "POST" else None)
    response = connection.getresponse()
    return response.status, response.read().decode()


def passes(server: ExtenderServer) -> bool:
    with contextlib.closing(connect(server)) as connection:
        status, answer = ask(connection)
    assert status == 200
    return bool(json.loads(answer)["NodeNames"])


def test_background_work_of_a_plugin_delays_no_client(pilot: type[Pilot]) -> None:
    with serving() as server:
        assert passes(server)
        assert pilot.arrived.wait(30)
        assert passes(server)  # the service has not answered yet
        pilot.released.set()
        while passes(server):  # until the answer is handled, between two requests
            pass


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"POST /filter HTTP/1.1\r\nHost: a\r\nContent-Le",
        b"POST /filter HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_silent_connection_delays_no_client(text: bytes) -> None:
    with serving() as server:
        address = ("127.0.0.1", server.server_port)
        with socket.create_connection(address) as silent:
            silent.sendall(text)
            assert passes(server)


@pytest.mark.long
def test_a_request_that_takes_too_long_gets_an_error() -> None:
    with serving(read_seconds=0.05) as server:
        address = ("127.0.0.1", server.server_port)
        with socket.create_connection(address, timeout=30) as slow:
            slow.sendall(
                b"POST /filter HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n{"
            )
            answer = http.client.HTTPResponse(slow)
            answer.begin()
            assert answer.status == 408
            assert json.loads(answer.read()) == {
                "Error": "expected the whole request within 0.05 s"
            }
        with socket.create_connection(address, timeout=30) as silent:
            assert silent.recv(1) == b""  # closed


@pytest.mark.long
def test_many_clients_at_once_are_all_answered(pilot: type[Pilot]) -> None:
    pilot.released.set()
    together = threading.Barrier(64)
    with serving() as server:

        def client(_number: int) -> int:
            together.wait(30)
            with contextlib.closing(connect(server)) as connection:
                return ask(connection)[0]

        with ThreadPoolExecutor(64) as clients:
            statuses = list(clients.map(client, range(64)))
    assert statuses == [200] * 64


def test_a_connection_is_kept_for_the_next_request() -> None:
    with serving() as server, contextlib.closing(connect(server)) as connection:
        assert ask(connection)[0] == 200
        kept = connection.sock
        assert ask(connection)[0] == 200
        assert connection.sock is kept
        assert ask(connection, "POST", "/bind")[0] == 404
        assert connection.sock is None
        assert ask(connection)[0] == 200


def test_probes_report_a_healthy_server() -> None:
    with serving() as server, contextlib.closing(connect(server)) as connection:
        assert ask(connection, "GET", "/healthz") == (200, "ok")
        assert ask(connection, "GET", "/readyz?verbose") == (200, "ok")
        status, answer = ask(connection, "GET", "/metrics")
    assert status == 404
    assert "expected /healthz or /readyz, got /metrics" in answer


def test_it_is_not_ready_while_a_plugin_hangs(
    pilot: type[Pilot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pilot, "blocks_filter", True)
    with (
        serving(ready_seconds=0.01) as server,
        ThreadPoolExecutor(1) as other,
        contextlib.closing(connect(server)) as connection,
    ):
        hanging = other.submit(passes, server)
        assert pilot.arrived.wait(30)
        assert ask(connection, "GET", "/readyz") == (503, "busy for 0.01 s")
        assert ask(connection, "GET", "/healthz") == (200, "ok")
        pilot.released.set()
        assert hanging.result(30)


def test_waiting_requests_get_an_error_when_the_server_stops(
    pilot: type[Pilot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pilot, "blocks_filter", True)
    with serving() as server, ThreadPoolExecutor(2) as others:
        hanging = others.submit(passes, server)
        assert pilot.arrived.wait(30)
        turn = server.ask_for_a_turn()
        server.shutdown()
        with pytest.raises(Exception, match="the extender is stopping"):
            turn.result(30)
        pilot.released.set()
        assert hanging.result(30)


@pytest.mark.parametrize("expects", [False, True], ids=["sent", "announced"])
def test_a_request_that_is_too_large_is_refused(expects: bool) -> None:
    most = len(QUESTION) - 1
    headers = {"Expect": "100-continue"} if expects else {}
    with (
        serving(max_request_bytes=most) as server,
        contextlib.closing(connect(server)) as connection,
    ):
        connection.request("POST", "/filter", QUESTION, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
    assert response.status == 413
    assert answer["Error"] == (
        f"expected at most {most} bytes (--max-request-bytes), "
        f"got a request of {len(QUESTION)}"
    )


def test_a_request_without_a_length_is_refused() -> None:
    with serving() as server, contextlib.closing(connect(server)) as connection:
        connection.request("POST", "/filter", iter([QUESTION]), encode_chunked=True)
        response = connection.getresponse()
        assert response.status == 411
        assert json.loads(response.read()) == {"Error": "expected a Content-Length"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def certificate(folder: Path) -> Callable[[str], Mapping[str, str]]:
    """Return a function that creates a self-signed certificate for 127.0.0.1."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command to make a certificate")

    def make(name: str) -> Mapping[str, str]:
        arguments = (
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
            f"-subj /CN={name} -addext subjectAltName=IP:127.0.0.1 "
            f"-keyout {name}.key -out {name}.crt"
        )
        subprocess.run(
            [openssl, *arguments.split()], cwd=folder, check=True, capture_output=True
        )
        return {
            "certificate": str(folder / f"{name}.crt"),
            "key": str(folder / f"{name}.key"),
        }

    return make


def trusting(server: Mapping[str, str]) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=server["certificate"])


def ask_securely(
    server: ExtenderServer, context: ssl.SSLContext, method: str, path: str
) -> tuple[int, str]:
    connection = http.client.HTTPSConnection(
        "127.0.0.1", server.server_port, timeout=30, context=context
    )
    with contextlib.closing(connection):
        return ask(connection, method, path)


@pytest.mark.long
def test_tls_asks_clients_for_certificates_but_not_probes(
    certificate: Callable[[str], Mapping[str, str]],
) -> None:
    mine, theirs = certificate("server"), certificate("client")
    files = TLSFiles(**mine, client_authorities=theirs["certificate"])
    stranger, friend = trusting(mine), trusting(mine)
    friend.load_cert_chain(theirs["certificate"], theirs["key"])
    with serving(tls=ServerTLS(files)) as server:
        assert server.url.startswith("https://127.0.0.1:")
        assert ask_securely(server, friend, "POST", "/filter")[0] == 200
        status, answer = ask_securely(server, stranger, "POST", "/filter")
        assert ask_securely(server, stranger, "GET", "/healthz")[0] == 200
        with (
            contextlib.closing(connect(server)) as plain,
            pytest.raises((http.client.HTTPException, OSError)),
        ):
            ask(plain)
        assert ask_securely(server, friend, "GET", "/readyz")[0] == 200
    assert status == 401
    assert "expected a client certificate" in answer


@pytest.mark.long
def test_certificates_that_were_renewed_are_served(
    certificate: Callable[[str], Mapping[str, str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    mine = certificate("renewed")
    before = trusting(mine)
    with serving(tls=ServerTLS(TLSFiles(**mine))) as server:
        assert ask_securely(server, before, "GET", "/healthz")[0] == 200
        certificate("renewed")
        assert ask_securely(server, trusting(mine), "GET", "/healthz")[0] == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            ask_securely(server, before, "GET", "/healthz")
        after = trusting(mine)
        Path(mine["certificate"]).write_text("nothing")
        assert ask_securely(server, after, "GET", "/healthz")[0] == 200
    assert "the old certificates stay" in caplog.text


def test_files_that_are_not_certificates_are_an_error(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("nothing")
    with pytest.raises(
        CertificateError, match=r"wrong\.pem.*expected PEM|no start line"
    ):
        ServerTLS(TLSFiles(certificate=str(wrong), key=str(wrong)))
