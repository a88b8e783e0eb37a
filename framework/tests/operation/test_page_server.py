"""The server of a scheduler's pages, over HTTPS."""

import contextlib
import http.client
import ssl
from collections.abc import Iterator

import pytest

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
def serving(**pages: Page) -> Iterator[http.client.HTTPSConnection]:
    """Serve health and other pages, and connect to them."""
    listed = {f"/{name}": page for name, page in pages.items()}
    listed.update(health_pages("/healthz", []))
    options = ServingOptions(tls=SelfSignedTLS("127.0.0.1"))
    server = PageServer(("127.0.0.1", 0), listed, Gate(None), options)
    server.start()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the certificate vouches for itself
    port = server.server_port
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)
    try:
        yield connection
    finally:
        connection.close()
        server.stop()


def asked(
    connection: http.client.HTTPSConnection, path: str, method: str = "GET"
) -> tuple[int, str, str]:
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.headers["Content-Type"], answer.read().decode()


def test_health_is_served_over_one_connection() -> None:
    with serving() as connection:
        kind = "text/plain; charset=utf-8"
        assert asked(connection, "/healthz") == (200, kind, "ok")
        told = "[+]ping ok\nhealthz check passed\n"
        assert asked(connection, "/healthz?verbose") == (200, kind, told)
        assert asked(connection, "/healthz", "HEAD") == (200, kind, "")


def test_pages_are_guarded() -> None:
    with serving(metrics=lambda _query: text_reply("secret")) as connection:
        status, kind, text = asked(connection, "/metrics")
    assert (status, kind) == (403, "application/json")
    assert "secret" not in text


def test_rights_come_before_the_question_whether_there_is_such_a_page() -> None:
    with serving() as connection:
        assert asked(connection, "/no-such-page")[0] == 403


def test_page_that_breaks_is_an_error_without_details(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_query: Query) -> Reply:
        raise ValueError("odd")

    with serving(readyz=broken) as connection:
        status, _, text = asked(connection, "/readyz")
    assert (status, text) == (500, "internal server error\n")
    assert "a page broke" in caplog.messages
