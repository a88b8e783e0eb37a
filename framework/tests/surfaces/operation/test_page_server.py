"""The server of a scheduler's pages, over HTTPS."""

import contextlib
import http.client
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.certificates import make_certificate
from tests.kit.internals.operation import (
    Gate,
    Page,
    PageServer,
    Query,
    Reply,
    ServingOptions,
    health_pages,
    text_reply,
)
from tests.kit.internals.serving import SelfSignedTLS


@contextlib.contextmanager
def serving(
    *,
    authorities: Callable[[], str] = lambda: "",
    certificates: Path | None = None,
    **pages: Page,
) -> Iterator[http.client.HTTPSConnection]:
    """Serve health and other pages, and connect to them.

    Args:
        authorities: Of clients, as the cluster has them.
        certificates: The folder of that of the client.
        **pages: The pages.
    """
    listed = {f"/{name}": page for name, page in pages.items()}
    listed.update(health_pages("/healthz", []))
    options = ServingOptions(tls=SelfSignedTLS("127.0.0.1", None, authorities))
    server = PageServer(("127.0.0.1", 0), listed, Gate(None), options)
    server.start()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the certificate is self-signed
    if certificates is not None:
        context.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
    port = server.server_port
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)
    try:
        yield connection
    finally:
        connection.close()
        server.stop()


def get(
    connection: http.client.HTTPSConnection, path: str, method: str = "GET"
) -> tuple[int, str, str]:
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.headers["Content-Type"], answer.read().decode()


@pytest.mark.long
def test_health_is_served_over_one_connection() -> None:
    with serving() as connection:
        kind = "text/plain; charset=utf-8"
        assert get(connection, "/healthz") == (200, kind, "ok")
        text = "[+]ping ok\nhealthz check passed\n"
        assert get(connection, "/healthz?verbose") == (200, kind, text)
        assert get(connection, "/healthz", "HEAD") == (200, kind, "")


@pytest.mark.long
def test_pages_are_guarded() -> None:
    with serving(metrics=lambda _query: text_reply("secret")) as connection:
        status, kind, text = get(connection, "/metrics")
    assert (status, kind) == (403, "application/json")
    assert "secret" not in text


@pytest.mark.long
def test_rights_are_checked_before_the_existence_of_a_page() -> None:
    with serving() as connection:
        assert get(connection, "/no-such-page")[0] == 403


@pytest.mark.long
def test_page_that_breaks_is_an_error_without_details(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_query: Query) -> Reply:
        raise ValueError("odd")

    with serving(readyz=broken) as connection:
        status, _, text = get(connection, "/readyz")
    assert (status, text) == (500, "internal server error\n")
    assert "a page raised an error" in caplog.messages


@pytest.mark.long
def test_client_is_authenticated_by_the_clusters_authorities(
    tmp_path: Path,
) -> None:
    make_certificate(tmp_path)
    certificates: list[str] = []
    with serving(
        authorities=lambda: "".join(certificates), certificates=tmp_path
    ) as connection:
        assert 'User \\"system:anonymous\\" cannot' in get(connection, "/x")[2]
        connection.close()
        certificates.append((tmp_path / "cert.pem").read_text())
        assert 'User \\"harbour.example\\" cannot' in get(connection, "/x")[2]


@pytest.mark.long
def test_authorities_that_cannot_be_read_change_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    certificates = [""]
    with serving(authorities=lambda: certificates[0]) as connection:
        certificates[0] = "no certificate"
        assert get(connection, "/healthz")[2] == "ok"
    assert "the old certificates stay: the cluster's authorities" in caplog.text
