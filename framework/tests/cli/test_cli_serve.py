"""``quaymaster serve`` rejects unsafe or impossible options at once."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app


def refused(arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the error about arguments that are rejected."""
    monkeypatch.delenv("QUAYMASTER_SERVE_TOKEN", raising=False)
    done = CliRunner().invoke(app, ["serve", *arguments])
    assert done.exit_code == 2
    assert "listening" not in done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "cluster.example:0"])
def test_plain_http_for_other_machines_needs_an_option(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = refused(["nodes.yaml", "--bind", address], monkeypatch)
    host = address.removesuffix(":0").strip("[]")
    assert (
        f"other machines reach {host}: expected --tls-cert-file and "
        "--tls-private-key-file, or --plain-http to serve without TLS" in error
    )


def test_certificate_and_key_need_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    error = refused(["nodes.yaml", "--tls-cert-file", "cert.pem"], monkeypatch)
    assert "--tls-cert-file and --tls-private-key-file need each other" in error


def test_a_certificate_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [f"--tls-cert-file={tmp_path}/cert.pem"]
    files += [f"--tls-private-key-file={tmp_path}/key.pem"]
    error = refused(["nodes.yaml", *files], monkeypatch)
    assert "cert.pem" in error
    assert "No such file or directory" in error


def test_standard_input_cannot_be_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    error = refused(["-", "--refresh", "10"], monkeypatch)
    assert "--refresh: standard input cannot be read a second time" in error


def test_an_empty_token_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["serve", "nodes.yaml", "--token-file", str(file)])
    assert "expected a token, got nothing" in str(done.exception)
