"""Connections through HTTP proxies and SOCKS5 proxies.

Mirrors ``http.ProxyFromEnvironment`` of Go for proxies of the environment.
"""

import base64
import functools
import http.client
import ipaddress
import socket
import urllib.request
from collections.abc import Callable
from typing import Final, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

__all__ = ["ProxyError", "connect_by", "proxy_for"]

ConnectionT = TypeVar("ConnectionT", bound=http.client.HTTPConnection)

_SOCKS: Final = ("socks5", "socks5h")
_SOCKS_PORT: Final = 1080
_HTTP_PORT: Final = 80
_NO_PASSWORD: Final = 0
_BY_PASSWORD: Final = 2
_IPV4: Final = 1
_NAME: Final = 3
_ADDRESS_LENGTHS: Final = {_IPV4: 4, 4: 16}


class ProxyError(OSError):
    """A proxy refuses a connection, or cannot be used."""


def proxy_for(server: SplitResult, proxy_url: str) -> SplitResult | None:
    """Return the proxy for a server, or None.

    Args:
        server: The URL of the server.
        proxy_url: The configured proxy; empty: that of the environment.
    """
    if proxy_url:
        return urlsplit(proxy_url)
    # As Go's ``httpproxy``, whatever NO_PROXY says.
    if _is_here(server.hostname or ""):
        return None
    if urllib.request.proxy_bypass(server.netloc):
        return None
    url = urllib.request.getproxies_environment().get(server.scheme, "")
    parts = urlsplit(url if "://" in url else f"http://{url}")
    return parts if parts.hostname else None


def connect_by(
    proxy: SplitResult | None,
    make: Callable[[str, int], ConnectionT],
    host: str,
    port: int,
) -> ConnectionT:
    """Create a connection that will use a proxy.

    Args:
        proxy: The proxy, or None.
        make: Creates a connection to a host and port.
        host: The destination.
        port: The port there.

    Raises:
        ProxyError: The proxy's scheme is not supported.
    """
    if proxy is None:
        return make(host, port)
    if proxy.scheme in _SOCKS:
        connection = make(host, port)
        # http.client has no public hook for the function that opens the socket.
        dial = functools.partial(_dial_socks, proxy)
        connection._create_connection = dial  # type: ignore[attr-defined]  # untyped
        return connection
    if proxy.scheme != "http":
        raise ProxyError(f"proxies of {proxy.scheme}:// are not supported")
    connection = make(proxy.hostname or "", proxy.port or _HTTP_PORT)
    headers = {}
    if proxy.username is not None:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        basic = base64.b64encode(pair.encode()).decode()
        headers["Proxy-Authorization"] = f"Basic {basic}"
    connection.set_tunnel(host, port, headers)
    return connection


def _is_here(host: str) -> bool:
    """Return whether a host is this machine, which is reached without a proxy."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _dial_socks(
    proxy: SplitResult,
    address: tuple[str, int],
    timeout: float | None,
    source: tuple[str, int] | None = None,
) -> socket.socket:
    """Connect through SOCKS5 (RFC 1928); the proxy resolves the host name."""
    at = (proxy.hostname or "", proxy.port or _SOCKS_PORT)
    connection = socket.create_connection(at, timeout, source)
    try:
        _greet(connection, proxy)
        host, port = address[0].encode("idna"), address[1]
        connection.sendall(
            bytes([5, 1, 0, _NAME, len(host)]) + host + port.to_bytes(2, "big")
        )
        _, refusal, _, kind = _exactly(connection, 4)
        if refusal:
            raise ProxyError(f"the proxy refused the connection (SOCKS5: {refusal})")
        length = _ADDRESS_LENGTHS.get(kind) or _exactly(connection, 1)[0]
        _exactly(connection, length + 2)
    except BaseException:
        connection.close()
        raise
    return connection


def _greet(connection: socket.socket, proxy: SplitResult) -> None:
    """Negotiate the authentication method, and authenticate (RFC 1929)."""
    has_name = proxy.username is not None
    connection.sendall(bytes([5, 1, _BY_PASSWORD if has_name else _NO_PASSWORD]))
    version, method = _exactly(connection, 2)
    expected = _BY_PASSWORD if has_name else _NO_PASSWORD
    if (version, method) != (5, expected):
        raise ProxyError("the proxy rejects the authentication method (SOCKS5)")
    if has_name:
        name = unquote(proxy.username or "").encode()
        password = unquote(proxy.password or "").encode()
        connection.sendall(
            bytes([1, len(name)]) + name + bytes([len(password)]) + password
        )
        if _exactly(connection, 2)[1]:
            raise ProxyError("the proxy rejected name and password (SOCKS5)")


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ProxyError("the proxy closed the connection")
        data += more
    return data
