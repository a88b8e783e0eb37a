"""``quaymaster serve`` refuses what would be unsafe, or could not work, at once."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app


def refused(arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said about arguments with which nothing is served."""
    monkeypatch.delenv("QUAYMASTER_SERVE_TOKEN", raising=False)
    done = CliRunner().invoke(app, ["serve", *arguments])
    assert done.exit_code == 2
    assert "listening" not in done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "cluster.example:0"])
def test_plain_http_for_other_machines_has_to_be_asked_for(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = refused(["nodes.yaml", "--bind", address], monkeypatch)
    host = address.removesuffix(":0").strip("[]")
    assert (
        f"other machines reach {host}: expected --tls-cert-file and "
        "--tls-private-key-file, or --plain-http to serve without TLS" in told
    )


def test_certificate_and_key_need_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    told = refused(["nodes.yaml", "--tls-cert-file", "cert.pem"], monkeypatch)
    assert "--tls-cert-file and --tls-private-key-file need each other" in told


def test_a_certificate_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [f"--tls-cert-file={tmp_path}/cert.pem"]
    files += [f"--tls-private-key-file={tmp_path}/key.pem"]
    told = refused(["nodes.yaml", *files], monkeypatch)
    assert "cert.pem" in told
    assert "No such file or directory" in told


def test_standard_input_cannot_be_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = refused(["-", "--refresh", "10"], monkeypatch)
    assert "--refresh: standard input cannot be read a second time" in told


def test_an_empty_token_is_no_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["serve", "nodes.yaml", "--token-file", str(file)])
    assert "expected a token, got nothing" in str(done.exception)
