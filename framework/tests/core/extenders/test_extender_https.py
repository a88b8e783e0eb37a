"""Extenders over HTTPS: which certificates are trusted."""

import ssl
from pathlib import Path

import pytest

from quaymaster.config import Extender, ExtenderTLS
from quaymaster.errors import QuaymasterError
from tests.kit.certificates import (
    encoded,
    make_certificate,
    mutual_tls_context,
)
from tests.kit.fake_extender import extended_harness, fake_extender, filtering, keep
from tests.kit.internals.extenders import Extenders


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a self-signed certificate for harbour.example."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def server_tls(certificate: Path) -> ssl.SSLContext:
    return mutual_tls_context(certificate)


@pytest.mark.long
def test_https_checks_the_server_and_shows_a_client_certificate(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    server_tls.verify_mode = ssl.CERT_REQUIRED
    settings = {
        "serverName": "harbour.example",
        "caData": encoded(certificate / "cert.pem"),
        "certData": encoded(certificate / "cert.pem"),
        "keyFile": str(certificate / "key.pem"),
    }
    with fake_extender(server_tls, filter=keep("n1")) as extender:
        run = extended_harness(
            filtering(extender, enableHTTPS=True, tlsConfig=settings)
        )
        run.settle()
    assert run.node_of("pod") == "n1"


def test_https_without_roots_checks_nothing(server_tls: ssl.SSLContext) -> None:
    with fake_extender(server_tls, filter=keep("n1")) as extender:
        run = extended_harness(filtering(extender, enableHTTPS=True))
        run.settle()
    assert run.node_of("pod") == "n1"


def test_https_with_the_wrong_name_fails_the_attempt(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    settings = {"caFile": str(certificate / "cert.pem"), "serverName": "other.example"}
    with fake_extender(server_tls, filter=keep("n1")) as extender:
        run = extended_harness(filtering(extender, tlsConfig=settings))
        run.schedule_one()
    assert "certificate verify failed" in run.message("pod")
    assert run.message("pod").startswith(f'Post "{extender.url}/filter": ')


def test_a_missing_certificate_is_found_when_the_scheduler_starts() -> None:
    settings = ExtenderTLS(ca_file="nowhere.pem")
    extender = Extender(url_prefix="https://a.example", tls_config=settings)
    with pytest.raises(QuaymasterError, match=r"tlsConfig: cannot be used: .*No such"):
        Extenders([extender])
