"""HTTPS connections of clients: who they are, and which name they expect."""

import http.client
import socket
import ssl
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["NamedConnection", "load_client_certificate", "notice_dead_peer"]

_SECONDS_OF_SILENCE: Final = 15  # before the peer of an idle connection is asked
_PROBES: Final = 3
_SECONDS_OF_PROBE: Final = 5


class NamedConnection(http.client.HTTPConnection):
    """A connection that checks the certificate of its server against a given name.

    Args:
        host: Where to connect to.
        port: The port there.
        timeout: For how many seconds to wait for each answer; None waits for ever.
        context: How TLS is spoken; None speaks none.
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
        """Connect, through a tunnel if one is set, and begin to speak TLS."""
        super().connect()
        if self._context is not None:
            self.sock = self._context.wrap_socket(
                self.sock, server_hostname=self._server_name
            )


def notice_dead_peer(connection: socket.socket) -> None:
    """Have a connection break half a minute after its peer has vanished, idle or not.

    A peer that is there and says nothing is not noticed by this.
    """
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # as on Linux
        tcp = socket.IPPROTO_TCP
        seconds = _SECONDS_OF_SILENCE + _PROBES * _SECONDS_OF_PROBE
        connection.setsockopt(tcp, socket.TCP_KEEPIDLE, _SECONDS_OF_SILENCE)
        connection.setsockopt(tcp, socket.TCP_KEEPINTVL, _SECONDS_OF_PROBE)
        connection.setsockopt(tcp, socket.TCP_KEEPCNT, _PROBES)
        connection.setsockopt(tcp, socket.TCP_USER_TIMEOUT, seconds * 1000)


def load_client_certificate(
    context: ssl.SSLContext,
    *,
    cert_file: str = "",
    cert_data: bytes = b"",
    key_file: str = "",
    key_data: bytes = b"",
) -> None:
    """Have clients show a certificate, if there is one; data come before files.

    Raises:
        OSError: A file cannot be read, or certificate and key cannot be used.
        ValueError: They cannot be used.
    """
    if not (cert_data or cert_file):
        return
    with tempfile.TemporaryDirectory() as folder:  # ssl reads nothing but files
        certificate, key = cert_file, key_file
        if cert_data:
            certificate = _written(Path(folder, "cert.pem"), cert_data)
        if key_data:
            key = _written(Path(folder, "key.pem"), key_data)
        # A key with a password cannot be used: nobody is to be asked for it.
        context.load_cert_chain(certificate, key or None, password=_no_password)


def _no_password() -> str:
    raise ValueError("the private key has a password")


def _written(path: Path, data: bytes) -> str:
    path.touch(mode=0o600)
    path.write_bytes(data)
    return str(path)
