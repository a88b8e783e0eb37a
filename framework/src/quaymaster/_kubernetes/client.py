"""A small client of an API server, which only reads.

Every request is a GET, so that each may be sent again if no answer came.
"""

import gzip
import http.client
import ssl
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec

from quaymaster._https import NamedConnection, load_client_certificate
from quaymaster._kubernetes.access import Access
from quaymaster._kubernetes.credentials import Credentials, Shown
from quaymaster._kubernetes.errors import ApiError, CredentialsError
from quaymaster._kubernetes.proxies import ProxyError, connect_by, proxy_for

__all__ = ["ApiClient"]

_TIMEOUT: Final = 60.0  # seconds without a byte
_MOST_WAITS: Final = 10  # as client-go
_LONGEST_WAIT: Final = 60.0  # seconds
_UNAUTHORIZED: Final = 401
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500


class _Answer(NamedTuple):
    code: int
    body: bytes
    retry_after: float | None


class _Status(msgspec.Struct):
    """An object by which the API server says what is wrong."""

    kind: str = ""
    message: str = ""
    reason: str = ""


class ApiClient:
    """Reads from one API server, over one connection that is kept.

    Args:
        access: Where it is, and as whom to ask.
        sleep: Waits for some seconds, when the server asks for that.
        now: Seconds since the epoch, for credentials that expire.
    """

    def __init__(
        self,
        access: Access,
        *,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._access = access
        self._server = urlsplit(access.server)
        self._where = f"{access.name} ({access.server})"
        self._credentials = Credentials(access, now=now)
        self._sleep = sleep
        self._connection: http.client.HTTPConnection | None = None
        self._shown: Shown | None = None

    @property
    def access(self) -> Access:
        """Where the server is, and as whom it is asked."""
        return self._access

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> bytes:
        """Read one resource.

        Args:
            path: Its path, such as ``/api/v1/pods``.
            query: What else to ask for.

        Raises:
            ApiError: The server cannot be asked, or refuses.
            CredentialsError: There are no credentials.
        """
        target = self._server.path.rstrip("/") + path
        if query:
            target += f"?{urlencode(query)}"
        is_renewed, waits = False, 0
        while True:
            answer = self._ask(target)
            if answer.code == http.client.OK:
                return answer.body
            if answer.code == _UNAUTHORIZED and not is_renewed:
                is_renewed = True
                if self._credentials.renew():
                    continue
            pause = _pause(answer)
            if pause is None or waits == _MOST_WAITS:
                raise self._refusal(path, answer)
            waits += 1
            self._sleep(min(pause, _LONGEST_WAIT))

    def _ask(self, target: str) -> _Answer:
        """Send the request; once more if the server has closed a kept connection."""
        shown = self._credentials.shown()
        if self._shown is not None and shown[1:] != self._shown[1:]:
            self.close()  # it was made with another certificate
        self._shown = shown
        is_kept = self._connection is not None
        try:
            try:
                return self._exchange(target, shown)
            except (ConnectionError, http.client.BadStatusLine):
                if not is_kept:
                    raise
                self.close()
                return self._exchange(target, shown)
        except TimeoutError as error:
            self.close()
            message = f"no answer in {_TIMEOUT:.0f} seconds"
            raise ApiError(self._where, message) from error
        except (OSError, http.client.HTTPException, ProxyError) as error:
            self.close()
            raise ApiError(self._where, _why(error)) from error
        except ValueError as error:  # which may quote a secret
            self.close()
            message = "a token, name or address that HTTP cannot send"
            raise ApiError(self._where, message) from error
        except (EOFError, zlib.error) as error:
            self.close()
            message = f"an answer that cannot be read: {error}"
            raise ApiError(self._where, message) from error

    def _exchange(self, target: str, shown: Shown) -> _Answer:
        if self._connection is None:
            self._connection = self._connected(shown)
        self._connection.putrequest("GET", target, skip_accept_encoding=True)
        for name, value in (*self._headers(shown), *self._access.headers):
            self._connection.putheader(name, value)
        self._connection.endheaders()
        response = self._connection.getresponse()
        body = response.read()
        if response.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return _Answer(response.status, body, _seconds(response))

    def _headers(self, shown: Shown) -> Iterator[tuple[str, str]]:
        yield "Accept", "application/json"
        yield "User-Agent", "quaymaster"
        if self._access.compresses:
            yield "Accept-Encoding", "gzip"
        if shown.authorization:
            yield "Authorization", shown.authorization

    def _connected(self, shown: Shown) -> http.client.HTTPConnection:
        server = self._server
        is_https = server.scheme == "https"
        host = server.hostname or ""
        port = server.port or (443 if is_https else 80)
        name = self._access.server_name or host
        connection = connect_by(
            proxy_for(server, self._access.proxy_url),
            lambda at, on: NamedConnection(
                at, on, _TIMEOUT, self._tls(shown) if is_https else None, name
            ),
            host,
            port,
        )
        connection.connect()
        return connection

    def _tls(self, shown: Shown) -> ssl.SSLContext:
        access = self._access
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
            raise CredentialsError(self._where, message) from error
        return context

    def _refusal(self, path: str, answer: _Answer) -> ApiError:
        """The error of an answer: what the server's Status says, in one line."""
        phrase = http.client.responses.get(answer.code, "")
        status = _Status()
        try:
            status = msgspec.json.decode(answer.body, type=_Status)
        except msgspec.DecodeError:
            status.message = answer.body[:200].decode(errors="replace").strip()
        said = f": {status.message}" if status.message else ""
        message = f"GET {path}: {answer.code} {status.reason or phrase}{said}"
        return ApiError(self._where, message, code=answer.code, reason=status.reason)


def _trusting(access: Access) -> ssl.SSLContext:
    """Make a context that trusts the right authorities."""
    if access.authority.data:
        text = access.authority.data.decode("ascii")
        context = ssl.create_default_context(cadata=text)
    else:
        context = ssl.create_default_context(cafile=access.authority.file or None)
    # As Go has it: authorities of Kubernetes are older than what Python asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if access.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _pause(answer: _Answer) -> float | None:
    """How long to wait before the request is sent again; None if it is not."""
    if answer.code == _TOO_MANY:
        return answer.retry_after if answer.retry_after is not None else 1.0
    return answer.retry_after if answer.code >= _SERVER_ERROR else None


def _seconds(response: http.client.HTTPResponse) -> float | None:
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
