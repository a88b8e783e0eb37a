"""The certificates of the server, which are read again when their files change."""

import logging
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

import attrs

from quaymaster._base.errors import QuaymasterError

__all__ = [
    "Authorities",
    "CertificateError",
    "RenewedTLS",
    "ServerTLS",
    "TLSFiles",
    "WrapsConnections",
    "new_context",
    "stamp",
]

Authorities: TypeAlias = Callable[[], str]
"""Returns the authorities of clients' certificates in PEM form; empty for none."""

_log = logging.getLogger(__name__)


class CertificateError(QuaymasterError):
    """A certificate or key cannot be used."""


@attrs.frozen(kw_only=True)
class TLSFiles:
    """The paths of certificates in PEM form.

    Attributes:
        certificate: The server's certificate, with the intermediate ones below a
            trusted authority.
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


class RenewedTLS:
    """Wraps connections in TLS, with the certificates that are current at that moment.

    Certificates are renewed while servers run. If new ones cannot be used, the error is
    logged, and the old ones stay in use.

    Args:
        state: Returns a value that changes when the certificates do.
        make: Reads the certificates into a context.

    Raises:
        CertificateError: The certificates cannot be used.
    """

    def __init__(
        self, state: Callable[[], object], make: Callable[[], ssl.SSLContext]
    ) -> None:
        self._state_now, self._make = state, make
        self._state = state()
        self._context = make()

    def wrap(self, connection: socket.socket) -> ssl.SSLSocket:
        """Wrap an accepted connection; the handshake is left to its own thread."""
        return self._current().wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        )

    def one_context(self) -> ssl.SSLContext:
        """Return a context for a server that takes one context for all connections.

        Each handshake uses the certificate that is current then.
        """

        def choose(
            connection: "ssl.SSLSocket | ssl.SSLObject",
            _server_name: str | None,
            _context: ssl.SSLContext,
        ) -> None:
            connection.context = self._current()

        context = self._make()
        # Called whether or not the client names a server.
        context.sni_callback = choose
        return context

    def _current(self) -> ssl.SSLContext:
        state = self._state_now()
        if state != self._state:
            self._state = state
            try:
                self._context = self._make()
            except CertificateError as error:
                _log.error("the old certificates stay: %s", error)
        return self._context


class ServerTLS(RenewedTLS):
    """Wraps connections in TLS, with certificates from files that may change.

    Args:
        files: The files.
        authorities: Returns further authorities of clients' certificates, beside the
            file's.

    Raises:
        CertificateError: The files cannot be used.
    """

    def __init__(self, files: TLSFiles, authorities: Authorities = lambda: "") -> None:
        self.asks_clients = files.client_authorities is not None

        def state() -> object:
            return [*map(stamp, attrs.astuple(files)), authorities()]

        super().__init__(state, lambda: _context(files, authorities()))


def stamp(path: str | None) -> object:
    """Return a value that changes when a file is replaced."""
    try:
        status = Path(path).stat() if path else None
    except OSError:
        return None
    return status and (status.st_mtime_ns, status.st_ino, status.st_size)


def _context(files: TLSFiles, authorities: str) -> ssl.SSLContext:
    context = new_context(files.client_authorities, authorities)
    try:
        context.load_cert_chain(files.certificate, files.key, password=_no_password)
    except (OSError, ValueError) as error:
        pair = f"{files.certificate}, {files.key}"
        raise CertificateError(f"{pair}: {_why(error)}") from error
    return context


def new_context(
    client_authorities: str | None, authorities: str = ""
) -> ssl.SSLContext:
    """Make the TLS context of a server, still without a certificate of its own.

    Args:
        client_authorities: The file of the authorities of clients' certificates; None
            for no file.
        authorities: Further authorities themselves, in PEM form, or empty. The server
            requests certificates of clients if there is an authority to check them.

    Raises:
        CertificateError: The authorities cannot be used.
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
    if authorities:
        context.verify_mode = ssl.CERT_OPTIONAL
        try:
            context.load_verify_locations(cadata=authorities)
        except (OSError, ValueError) as error:
            message = f"the cluster's authorities of clients: {_why(error)}"
            raise CertificateError(message) from error
    return context


def _no_password() -> str:
    raise ValueError("the key is encrypted")


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "").lower().replace("_", " ")
        return reason or "expected PEM, as in -----BEGIN CERTIFICATE-----"
    return (isinstance(error, OSError) and error.strerror) or str(error)
