"""A connection to one API server that is kept open: sends requests, reads responses."""

import http.client
import io
import select
import ssl
import zlib
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from quaymaster._base.gunzip import MOST_BYTES, gunzip
from quaymaster._base.https import (
    NamedConnection,
    load_client_certificate,
    notice_dead_peer,
)
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.credentials import Credentials, Shown
from quaymaster._clusters.kubernetes.errors import ApiError, CredentialsError
from quaymaster._clusters.kubernetes.proxies import connect_by, proxy_for

__all__ = [
    "Answer",
    "Connection",
    "Request",
    "connect",
    "headers_of",
    "stamps_of",
    "tls_of",
]

_BLOCK: Final = 1 << 20  # bytes; chosen, not measured
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


class Request(NamedTuple):
    """One request.

    Attributes:
        method: Such as ``GET``.
        target: The path with its query.
        body: The content; empty for none.
        content_type: The type of the content.
    """

    method: str
    target: str
    body: bytes = b""
    content_type: str = "application/json"

    @property
    def only_reads(self) -> bool:
        """Whether it may be sent twice without harm."""
        return self.method == "GET"


class Answer(NamedTuple):
    """A complete response.

    Attributes:
        code: The HTTP status.
        body: Its content, decompressed.
        headers: Its headers.
    """

    code: int
    body: bytes
    headers: Message


class Connection:
    """A connection that is opened on demand, and again after it was closed.

    Args:
        access: The server.
        credentials: The credentials to send.
        timeout: For how many seconds to wait for the next byte.
    """

    def __init__(
        self, access: Access, credentials: Credentials, timeout: float
    ) -> None:
        self.where = _where(access)
        self._access = access
        self._path = urlsplit(access.server).path.rstrip("/")
        self._credentials = credentials
        self._timeout = timeout
        self._http: http.client.HTTPConnection | None = None
        self._stamps_used: object = None

    def close(self) -> None:
        """Close it; the next request opens another one."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def exchange(self, request: Request) -> Answer:
        """Send a request, and read the response.

        A read is sent once more if the server has closed the connection since the last
        request.

        Raises:
            ApiError: No response arrived.
            CredentialsError: There are no credentials.
        """
        response = self._sent(request)
        return self.read(response, is_in_doubt=not request.only_reads)

    def read(
        self, response: http.client.HTTPResponse, *, is_in_doubt: bool = False
    ) -> Answer:
        """Read a response to its end.

        Raises:
            ApiError: The response is incomplete.
        """
        try:
            return Answer(response.status, _content(response), response.headers)
        except (OSError, http.client.HTTPException, zlib.error) as error:
            raise self._lost(error, is_in_doubt=is_in_doubt) from error

    def stream(self, request: Request) -> http.client.HTTPResponse:
        """Send a request, and return the response, whose content can be streamed.

        Raises:
            ApiError: No response arrived.
            CredentialsError: There are no credentials.
        """
        return self._sent(request)

    def _sent(self, request: Request) -> http.client.HTTPResponse:
        """Send a request; return the response after its headers."""
        shown = self._credentials.shown()
        stamps = stamps_of(self._access, shown)
        if stamps != self._stamps_used or self._is_closed_by_server():
            self.close()
        self._stamps_used = stamps
        is_kept = self._http is not None
        try:
            return self._tried(request, shown)
        except ApiError as error:
            closed = isinstance(
                error.__cause__, (ConnectionError, http.client.BadStatusLine)
            )
            # The server may close an idle connection at this very moment. Only a
            # request that changes nothing may be sent twice.
            if not (is_kept and closed and request.only_reads):
                raise
        return self._tried(request, shown)

    def _tried(self, request: Request, shown: Shown) -> http.client.HTTPResponse:
        is_sent = False
        try:
            connection = self._http
            if connection is None:
                connection = self._http = connect(self._access, shown, self._timeout)
            connection.putrequest(
                request.method,
                self._path + request.target,
                skip_accept_encoding=True,
            )
            for name, value in self._headers(request, shown):
                connection.putheader(name, value)
            # From here on, a write may reach the server even if sending it fails.
            is_sent = not request.only_reads
            connection.endheaders(request.body or None)
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise self._lost(error, is_in_doubt=is_sent) from error
        except ValueError as error:  # which may quote a secret
            self.close()
            message = "a token, name or address contains characters invalid in HTTP"
            raise ApiError(self.where, message) from error

    def _lost(self, error: Exception, *, is_in_doubt: bool) -> ApiError:
        """Close the connection; return the error of a request without a response."""
        self.close()
        message = _why(error, self._timeout)
        return ApiError(self.where, message, is_in_doubt=is_in_doubt)

    def _headers(self, request: Request, shown: Shown) -> Iterator[tuple[str, str]]:
        yield from headers_of(self._access, shown)
        if self._access.compresses:
            yield "Accept-Encoding", "gzip"
        if request.body:
            yield "Content-Type", request.content_type
            yield "Content-Length", str(len(request.body))

    def _is_closed_by_server(self) -> bool:
        """Return whether the server has closed the connection since the last response.

        This matters for writes, which are not repeated when the connection breaks.
        """
        if self._http is None or self._http.sock is None:
            return self._http is not None
        # No response is due, so a connection with something to read was closed.
        return bool(select.select([self._http.sock], [], [], 0)[0])


def connect(
    access: Access, shown: Shown, timeout: float, tls: ssl.SSLContext | None = None
) -> http.client.HTTPConnection:
    """Connect to an API server, with the TLS handshake.

    Args:
        access: The server.
        shown: The credentials.
        timeout: For how many seconds to wait for the next byte.
        tls: The result of `tls_of`, which callers cache because it is slow; created
            here if missing.

    Raises:
        ApiError: It cannot be reached.
        CredentialsError: The certificates cannot be used.
    """
    server = urlsplit(access.server)
    host = server.hostname or ""
    context = tls or tls_of(access, shown)
    try:
        connection = connect_by(
            proxy_for(server, access.proxy_url),
            lambda at, port: NamedConnection(
                at, port, timeout, context, access.server_name or host
            ),
            host,
            server.port or _DEFAULT_PORTS[server.scheme],
        )
        connection.connect()
        notice_dead_peer(connection.sock)
    except (OSError, http.client.HTTPException) as error:
        raise ApiError(_where(access), _why(error, timeout)) from error
    return connection


def headers_of(access: Access, shown: Shown) -> Iterator[tuple[str, str]]:
    """Yield the headers of every request, except those about its body."""
    yield "Accept", "application/json"
    yield "User-Agent", "quaymaster"
    if shown.authorization:
        yield "Authorization", shown.authorization
    yield from access.headers


def stamps_of(access: Access, shown: Shown) -> tuple[object, ...]:
    """Return values that change with the certificates: connections must be reopened."""
    return shown[1:], *_stamps(access, shown)


def _where(access: Access) -> str:
    return f"{access.name} ({access.server})"


def tls_of(access: Access, shown: Shown) -> ssl.SSLContext | None:
    """Return the TLS context; None for a server without TLS.

    Raises:
        CredentialsError: The certificates cannot be used.
    """
    if urlsplit(access.server).scheme != "https":
        return None
    _, certificate, key = shown
    try:
        context = _trusting(access)
        load_client_certificate(
            context,
            cert_file=certificate.file,
            cert_data=certificate.data,
            key_file=key.file,
            key_data=key.data,
        )
    except (OSError, ValueError) as error:
        message = f"certificates cannot be used: {error}"
        raise CredentialsError(_where(access), message) from error
    return context


def _content(response: http.client.HTTPResponse) -> bytes:
    body = _body(response)
    if response.headers.get("Content-Encoding") == "gzip":
        return gunzip(body)
    return body


def _body(response: http.client.HTTPResponse) -> bytes:
    """Read a body: the memory grows with what has come, not with what is announced."""
    body = io.BytesIO()
    while block := response.read(_BLOCK):
        body.write(block)
        if body.tell() > MOST_BYTES:
            message = f"the response exceeds {MOST_BYTES >> 30} GiB"
            raise http.client.HTTPException(message)
    # The server has closed the connection before the announced end.
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return body.getvalue()


def _stamps(access: Access, shown: Shown) -> Iterator[tuple[int, int] | None]:
    """Yield the modification time and inode of each certificate file."""
    _, certificate, key = shown
    for pem in (access.authority, certificate, key):
        if not pem.file or pem.data:
            continue
        try:
            status = Path(pem.file).stat()
        except OSError:
            yield None
        else:
            # With the inode, as a file may be replaced within the resolution of times.
            yield status.st_mtime_ns, status.st_ino


def _trusting(access: Access) -> ssl.SSLContext:
    """Make a context that trusts the right authorities."""
    if access.authority.data:
        text = access.authority.data.decode("ascii")
        context = ssl.create_default_context(cadata=text)
    else:
        context = ssl.create_default_context(cafile=access.authority.file or None)
    # As in Go: many Kubernetes authorities do not meet Python's strict rules.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if access.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _why(error: Exception, timeout: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no response in {timeout:.0f} seconds"
    if isinstance(error, zlib.error):
        return f"the response cannot be decompressed: {error}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
