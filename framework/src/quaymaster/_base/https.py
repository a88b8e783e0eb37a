"""HTTPS connections of clients: client certificates, and the expected server name."""

import http.client
import socket
import ssl
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["NamedConnection", "load_client_certificate", "notice_dead_peer"]

_SECONDS_OF_SILENCE: Final = 15  # before the kernel probes the peer of an idle socket
_PROBES: Final = 3
_SECONDS_OF_PROBE: Final = 5


class NamedConnection(http.client.HTTPConnection):
    """A connection that checks the certificate of its server against a given name.

    Args:
        host: The host to connect to.
        port: The port of the host.
        timeout: How many seconds to wait for each response; None waits for ever.
        context: The TLS context; None connects without TLS.
        server_name: The name that the server's certificate must have.
    """

    def __init__(
        self,
        host: str,
        port: int,
        timeout: float | None,
        context: ssl.SSLContext | None,
        server_name: str,
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self._context = context
        self._server_name = server_name

    def connect(self) -> None:
        """Connect, through a proxy's tunnel if one is set, and start TLS."""
        super().connect()
        if self._context is not None:
            self.sock = self._context.wrap_socket(
                self.sock, server_hostname=self._server_name
            )


def notice_dead_peer(connection: socket.socket) -> None:
    """Have a connection break half a minute after its peer has vanished, idle or not.

    This does not notice a peer that is there but sends nothing.
    """
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # as on Linux
        tcp = socket.IPPROTO_TCP
        seconds = _SECONDS_OF_SILENCE + _PROBES * _SECONDS_OF_PROBE
        connection.setsockopt(tcp, socket.TCP_KEEPIDLE, _SECONDS_OF_SILENCE)
        connection.setsockopt(tcp, socket.TCP_KEEPINTVL, _SECONDS_OF_PROBE)
        connection.setsockopt(tcp, socket.TCP_KEEPCNT, _PROBES)
        # Probes are sent only while the connection is idle. This one ends it if sent
        # bytes are not acknowledged.
        connection.setsockopt(tcp, socket.TCP_USER_TIMEOUT, seconds * 1000)


def load_client_certificate(
    context: ssl.SSLContext,
    *,
    cert_file: str = "",
    cert_data: bytes = b"",
    key_file: str = "",
    key_data: bytes = b"",
) -> None:
    """Load the client certificate, if there is one; data come before files.

    Raises:
        OSError: A file cannot be read, or certificate and key cannot be used.
        ValueError: Certificate and key cannot be used.
    """
    if not (cert_data or cert_file):
        return
    with tempfile.TemporaryDirectory() as folder:  # ssl reads only files
        certificate, key = cert_file, key_file
        if cert_data:
            certificate = _written(Path(folder, "cert.pem"), cert_data)
        if key_data:
            key = _written(Path(folder, "key.pem"), key_data)
        # A key with a password cannot be used: there is no user to ask for the
        # password.
        context.load_cert_chain(certificate, key or None, password=_no_password)


def _no_password() -> str:
    raise ValueError("the private key has a password")


def _written(path: Path, data: bytes) -> str:
    path.touch(mode=0o600)
    path.write_bytes(data)
    return str(path)
