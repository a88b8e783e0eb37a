"""Ports of loopback for servers of tests."""

import os
import random
import socket
import ssl
from http.client import HTTPException
from typing import Final
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

__all__ = ["answers", "ask", "free_ports"]

_PORTS: Final = "20000-29999"  # below those that systems give to clients
_anybody: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_anybody.check_hostname = False
_anybody.verify_mode = ssl.CERT_NONE
_direct: Final = build_opener(ProxyHandler({}), HTTPSHandler(context=_anybody))


def free_ports(count: int) -> list[int]:
    """Return ports of loopback on which no process listens.

    ``QUAYMASTER_E2E_PORTS``, such as ``20000-20999``, sets the range.
    """
    first, _, last = os.environ.get("QUAYMASTER_E2E_PORTS", _PORTS).partition("-")
    found: list[int] = []
    while len(found) < count:
        port = random.randint(int(first), int(last))
        if port not in found and _is_free(port):
            found.append(port)
    return found


def ask(url: str, data: bytes | None = None, *, token: str = "") -> bytes:
    """Return a test server's response, without a check of its certificate.

    Args:
        url: The address.
        data: The body of the request.
        token: The bearer token of the request.

    Raises:
        OSError: The server does not respond, or responds with an error.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = Request(url, data, headers)
    with _direct.open(request, timeout=30) as answer:
        content: bytes = answer.read()
    return content


def answers(url: str) -> bool:
    """Whether a server reports at an address that it is healthy."""
    try:
        ask(url)
    except (OSError, HTTPException):
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
