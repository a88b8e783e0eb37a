"""Sends requests to an extender: by HTTP or HTTPS, one connection per call.

Mirrors ``makeTransport`` and ``send`` (Kubernetes v1.36,
``pkg/scheduler/extender.go``). Proxies are not used and redirects are not followed.
"""

import http.client
import re
import socket
import ssl
import time
import zlib
from typing import Final
from urllib.parse import urlsplit

from quaymaster._base.gunzip import gunzip
from quaymaster._base.https import NamedConnection
from quaymaster._core.config.settings import Extender
from quaymaster._core.extenders.errors import ExtenderError, LostAnswerError
from quaymaster._core.extenders.tls import tls_context

__all__ = ["EXAMPLE_URL", "Endpoint", "is_url"]

EXAMPLE_URL: Final = "http://127.0.0.1:8888/scheduler"

_TIMED_OUT: Final = (
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
)
_CHUNK: Final = 1 << 16  # bytes
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class Endpoint:
    """The address of an extender.

    Args:
        extender: Its configuration.

    Raises:
        ExtenderError: The URL or the certificates cannot be used.
    """

    def __init__(self, extender: Extender) -> None:
        self._prefix = extender.url_prefix.rstrip("/")
        self._host, self._port, self._path, is_https = _parts(self._prefix)
        self._tls = tls_context(extender) if is_https else None
        settings = extender.tls_config
        self._server_name = (settings and settings.server_name) or self._host
        seconds = extender.http_timeout.total_seconds()
        # Go's http.Client takes only a positive Timeout; one below 0 means no limit.
        # The default of 5 s has already replaced 0.
        self._timeout = seconds if seconds > 0 else None

    def post(self, verb: str, body: bytes) -> bytes:
        """Send a request; return the body of the response.

        Raises:
            LostAnswerError: The request was sent, but no response came in time.
            ExtenderError: The request could not be sent, or was rejected.
        """
        url = f"{self._prefix}/{verb}"
        connection = self._connection()
        try:
            self._connect(connection, url)
            status, answer = self._exchange(connection, url, verb, body)
        finally:
            connection.close()
        # Any other status is a failure, also 201 and 204, as in ``send``
        # (pkg/scheduler/extender.go).
        if status != http.client.OK:
            problem = f"failed {verb} with extender at URL {url}, code {status}"
            raise ExtenderError(problem)
        return answer

    def reach(self) -> None:
        """Connect without a request.

        Raises:
            ExtenderError: The connection fails.
        """
        connection = self._connection()
        try:
            self._connect(connection, self._prefix)
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(
                self._host, self._port, timeout=self._timeout
            )
        return NamedConnection(
            self._host, self._port, self._timeout, self._tls, self._server_name
        )

    def _connect(self, connection: http.client.HTTPConnection, url: str) -> None:
        try:
            connection.connect()
        except TimeoutError as error:
            raise ExtenderError(f'Post "{url}": {_TIMED_OUT}') from error
        except ssl.SSLError as error:
            raise ExtenderError(f'Post "{url}": {error}') from error
        except OSError as error:
            what = "lookup" if isinstance(error, socket.gaierror) else "connect"
            where = f"dial tcp {self._host}:{self._port}"
            why = (error.strerror or str(error)).lower()
            raise ExtenderError(f'Post "{url}": {where}: {what}: {why}') from error

    def _exchange(
        self, connection: http.client.HTTPConnection, url: str, verb: str, body: bytes
    ) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        try:
            connection.request("POST", f"{self._path}/{verb}", body, headers)
            response = connection.getresponse()
            content = self._read(response)
            if response.headers.get("Content-Encoding") == "gzip":
                content = gunzip(content)
            return response.status, content
        except TimeoutError as error:
            raise LostAnswerError(f'Post "{url}": {_TIMED_OUT}') from error
        except (OSError, http.client.HTTPException, zlib.error) as error:
            why = str(error) or type(error).__name__
            raise LostAnswerError(f'Post "{url}": {why}') from error

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        """Read the whole response within the time limit of a call."""
        began, chunks = time.monotonic(), []
        while chunk := response.read1(_CHUNK):
            chunks.append(chunk)
            # The timeout of a socket starts again with each received byte. In Go the
            # limit holds for the whole call, so that an extender that sends slowly
            # fails there.
            if self._timeout and time.monotonic() - began > self._timeout:
                raise TimeoutError
        # The connection ended before Content-Length bytes came; `read1` reports this
        # only as the end.
        if response.length:
            raise http.client.IncompleteRead(b"".join(chunks), response.length)
        return b"".join(chunks)


def is_url(prefix: str) -> bool:
    """Whether a text is a valid URL of an extender."""
    try:
        _parts(prefix)
    except ExtenderError:
        return False
    return True


def _parts(prefix: str) -> tuple[str, int, str, bool]:
    try:
        parts = urlsplit(prefix)
        port = parts.port
    except ValueError as error:
        raise _not_a_url(prefix) from error
    # Python removes some control characters, which Go rejects.
    is_clean = " " not in parts.netloc and not _CONTROL.search(prefix)
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_clean:
        raise _not_a_url(prefix)
    is_https = parts.scheme == "https"
    return parts.hostname, port or (443 if is_https else 80), parts.path, is_https


def _not_a_url(prefix: str) -> ExtenderError:
    expected = f"a URL such as {EXAMPLE_URL}"
    return ExtenderError(f"extenders: urlPrefix: expected {expected}, got {prefix!r}")
