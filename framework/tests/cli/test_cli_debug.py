"""``quaymaster debug dump``, against a scheduler's pages."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app
from tests.kit.internals.operation import (
    Gate,
    PageServer,
    ServingOptions,
    User,
    Verdict,
    dump_page,
)
from tests.kit.internals.serving import SelfSignedTLS

HELD = {
    "queues": {"active": [], "unschedulable": []},
    "inFlight": [],
    "bindsInFlight": 0,
    "waiting": [],
    "nominated": {"n": ["default/vip"]},
    "assumed": [],
    "nodes": [{"name": "n", "pods": 3}],
    "wrong": [],
    "differsFromServer": [],
}


class Register:
    """Knows one token, which may do everything."""

    def user_of(self, token: str) -> User | None:
        return User("admin") if token == "t0ken" else None

    def may(self, user: User, verb: str, path: str) -> Verdict:
        return Verdict((user.name, verb, path) == ("admin", "get", "/debug/dump"))


@pytest.fixture
def url() -> Iterator[str]:
    options = ServingOptions(tls=SelfSignedTLS("127.0.0.1"))
    pages = {"/debug/dump": dump_page(lambda: HELD)}
    server = PageServer(("127.0.0.1", 0), pages, Gate(Register()), options)
    server.start()
    yield server.url
    server.stop()


def run(folder: Path, *arguments: str, token: str = "t0ken") -> tuple[int, str]:
    kubeconfig = folder / "kubeconfig"
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://harbour.example"}}],
        "users": [{"name": "u", "user": {"token": token}}],
    }
    kubeconfig.write_text(json.dumps(tree))
    given = ["debug", "dump", "--kubeconfig", str(kubeconfig), *arguments]
    result = CliRunner().invoke(app, given)
    if result.exception and not isinstance(result.exception, SystemExit):
        return 2, str(result.exception)
    return result.exit_code, result.output


def test_dump_is_told_in_lines(url: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, "--server", url)
    assert code == 0
    assert "nominated: 1\n  default/vip to n\n" in output
    assert "nodes: 1, with 3 pods\n" in output


def test_dump_is_told_to_programs(url: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, "--server", url, "-o", "json")
    assert code == 0
    assert json.loads(output) == HELD


def test_nobody_is_told_without_the_right(url: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, "--server", url, token="other")
    assert code == 2
    assert "GET /debug/dump: 401 Unauthorized" in output


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("http://127.0.0.1:1", "expected a URL such as https://127.0.0.1:10259"),
        ("https://harbour.example", "needs --certificate-authority"),
    ],
)
def test_credentials_are_not_shown_to_just_anybody(
    server: str, expected: str, tmp_path: Path
) -> None:
    code, output = run(tmp_path, "--server", server)
    assert code == 2
    assert expected in output
