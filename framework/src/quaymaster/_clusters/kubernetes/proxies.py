"""Ways around a direct connection: HTTP proxies and SOCKS5.

Mirrors ``http.ProxyFromEnvironment`` of Go for what the environment says.
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
    """A proxy does not let a connection through."""


def proxy_for(server: SplitResult, proxy_url: str) -> SplitResult | None:
    """The proxy to take to a server, or None.

    Args:
        server: The URL of the server.
        proxy_url: The proxy to take in any case; empty: what the environment says.
    """
    if proxy_url:
        return urlsplit(proxy_url)
    if _is_here(server.hostname or ""):
        return None
    if urllib.request.proxy_bypass(server.netloc):
        return None
    found = urllib.request.getproxies_environment().get(server.scheme, "")
    parts = urlsplit(found if "://" in found else f"http://{found}")
    return parts if parts.hostname else None


def connect_by(
    proxy: SplitResult | None,
    make: Callable[[str, int], ConnectionT],
    host: str,
    port: int,
) -> ConnectionT:
    """Make a connection that goes by a proxy once it is connected.

    Args:
        proxy: The proxy, or None.
        make: Makes a connection to a host and port.
        host: Where it is to lead.
        port: The port there.

    Raises:
        ProxyError: There are no such proxies.
    """
    if proxy is None:
        return make(host, port)
    if proxy.scheme in _SOCKS:
        connection = make(host, port)
        # How http.client itself lets connections be made in other ways.
        dial = functools.partial(_dial_socks, proxy)
        connection._create_connection = dial  # type: ignore[attr-defined]  # untyped
        return connection
    if proxy.scheme != "http":
        raise ProxyError(f"a proxy of {proxy.scheme}:// cannot be used")
    connection = make(proxy.hostname or "", proxy.port or _HTTP_PORT)
    headers = {}
    if proxy.username is not None:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        basic = base64.b64encode(pair.encode()).decode()
        headers["Proxy-Authorization"] = f"Basic {basic}"
    connection.set_tunnel(host, port, headers)
    return connection


def _is_here(host: str) -> bool:
    """Whether a host is this machine, which no proxy of the environment is for."""
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
    """Connect by SOCKS5 (RFC 1928); the proxy looks the name up."""
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
    """Agree on how to say who one is (RFC 1929), and say it."""
    has_name = proxy.username is not None
    connection.sendall(bytes([5, 1, _BY_PASSWORD if has_name else _NO_PASSWORD]))
    version, method = _exactly(connection, 2)
    expected = _BY_PASSWORD if has_name else _NO_PASSWORD
    if (version, method) != (5, expected):
        raise ProxyError("the proxy does not let anybody in like that (SOCKS5)")
    if has_name:
        name = unquote(proxy.username or "").encode()
        password = unquote(proxy.password or "").encode()
        connection.sendall(
            bytes([1, len(name)]) + name + bytes([len(password)]) + password
        )
        if _exactly(connection, 2)[1]:
            raise ProxyError("the proxy refused name and password (SOCKS5)")


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ProxyError("the proxy closed the connection")
        data += more
    return data
