"""The certificates of the server, which are read again when their files change."""

import logging
import socket
import ssl
from pathlib import Path
from typing import Protocol

import attrs

from quaymaster._errors import QuaymasterError

__all__ = [
    "CertificateError",
    "ServerTLS",
    "TLSFiles",
    "WrapsConnections",
    "new_context",
]

_log = logging.getLogger(__name__)


class CertificateError(QuaymasterError):
    """A certificate or key that cannot be used."""


@attrs.frozen(kw_only=True)
class TLSFiles:
    """The paths of certificates in PEM form.

    Attributes:
        certificate: The server's certificate, with those between it and a known
            authority.
        key: Its private key.
        client_authorities: The authorities that sign the certificates of clients; None
            if clients need no certificate.
    """

    certificate: str
    key: str
    client_authorities: str | None = None


class WrapsConnections(Protocol):
    """Puts TLS around connections."""

    def wrap(self, connection: socket.socket, /) -> ssl.SSLSocket:
        """Wrap an accepted connection; the handshake is left to its own thread."""


class ServerTLS:
    """Wraps connections in TLS.

    Certificates are renewed while servers run, so files that have changed are read
    again for the next connection. If they cannot be used, that is logged, and the old
    ones stay.

    Args:
        files: The files.

    Raises:
        CertificateError: The files cannot be used.
    """

    def __init__(self, files: TLSFiles) -> None:
        self._files = files
        self._state = _state(files)
        self._context = _context(files)

    @property
    def asks_clients(self) -> bool:
        """Whether clients need a certificate."""
        return self._files.client_authorities is not None

    def wrap(self, connection: socket.socket) -> ssl.SSLSocket:
        """Wrap an accepted connection; the handshake is left to its own thread."""
        state = _state(self._files)
        if state != self._state:
            self._state = state
            try:
                self._context = _context(self._files)
            except CertificateError as error:
                _log.error("the old certificates stay: %s", error)
        return self._context.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        )


def _state(files: TLSFiles) -> tuple[object, ...]:
    """Return a value that differs once files have been replaced."""
    return tuple(map(_stamp, attrs.astuple(files)))


def _stamp(path: str | None) -> object:
    try:
        found = Path(path).stat() if path else None
    except OSError:
        return None
    return found and (found.st_mtime_ns, found.st_ino, found.st_size)


def _context(files: TLSFiles) -> ssl.SSLContext:
    context = new_context(files.client_authorities)
    try:
        context.load_cert_chain(files.certificate, files.key, password=_no_password)
    except (OSError, ValueError) as error:
        pair = f"{files.certificate}, {files.key}"
        raise CertificateError(f"{pair}: {_why(error)}") from error
    return context


def new_context(client_authorities: str | None) -> ssl.SSLContext:
    """Make what a server speaks TLS with, still without a certificate of its own.

    Args:
        client_authorities: The file of the authorities of clients' certificates; None
            if clients are not asked for any.

    Raises:
        CertificateError: The file cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if client_authorities is not None:
        # Optional here, since probes need no certificate.
        context.verify_mode = ssl.CERT_OPTIONAL
        try:
            context.load_verify_locations(client_authorities)
        except (OSError, ValueError) as error:
            raise CertificateError(f"{client_authorities}: {_why(error)}") from error
    return context


def _no_password() -> str:
    raise ValueError("the key is encrypted")


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "").lower().replace("_", " ")
        return reason or "expected PEM, as in -----BEGIN CERTIFICATE-----"
    return (isinstance(error, OSError) and error.strerror) or str(error)
