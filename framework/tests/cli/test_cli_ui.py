"""``ui`` rejects wrong options and prints its address; see also `tests/browser`."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["ui", *arguments])


@pytest.fixture
def busy() -> Iterator[int]:
    """Return a port that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        yield port


def test_a_busy_port_is_an_error_before_the_input_is_read(busy: int) -> None:
    result = run("no-such-file", "--port", str(busy))
    assert result.exit_code != 0
    assert str(result.exception) == (
        f"--port {busy}: Address already in use; --port 0 selects a free port"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("no-such-file",), "no-such-file: no such file or directory"),
        (("--config", "no-such.yaml"), "no-such.yaml: No such file or directory"),
        (("--nodes", "many"), "many"),
    ],
    ids=["input", "configuration", "nodes"],
)
def test_unreadable_input_is_an_error_and_nothing_is_served(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, "--port", "0")
    assert result.exit_code != 0
    assert said in f"{result.output}{result.exception}"
    assert "http://" not in result.output


def test_a_port_is_a_number_that_ports_can_have() -> None:
    result = run("--port", "99999")
    assert result.exit_code == 2
    assert "99999 is not in the range" in result.stderr


@pytest.mark.long
def test_address_is_written_to_a_pipe_at_once() -> None:
    with subprocess.Popen(
        (sys.executable, "-m", "quaymaster", "ui", "--port", "0"),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as served:
        assert served.stdout is not None
        address = re.match(r"open http://(127\.0\.0\.1:\d+)/", served.stdout.readline())
        try:
            assert address is not None
            # Once it answers, it handles signals.
            connection = HTTPConnection(address[1], timeout=30)
            connection.request("GET", "/")
            assert connection.getresponse().status == 401
            connection.close()
        finally:
            served.terminate()
        assert served.stdout.read() == "stopped\n"
    assert served.returncode == 0
