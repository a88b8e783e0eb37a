"""A small client of an API server: reads, writes and streams."""

import contextlib
import http.client
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias
from urllib.parse import urlencode

import attrs
import msgspec

from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.connection import Answer, Connection, Request
from quaymaster._clusters.kubernetes.credentials import Credentials
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._clusters.kubernetes.streams import blocks_of

__all__ = ["ApiClient", "Count"]

_TIMEOUT: Final = 60.0  # seconds without a byte
_MOST_WAITS: Final = 10  # as client-go
_LONGEST_WAIT: Final = 60.0  # seconds
_UNAUTHORIZED: Final = 401
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500


Count: TypeAlias = Callable[[str, int, float | None], None]
"""Counts a request by its method, status and seconds."""


class _Status(msgspec.Struct):
    """The object with which the API server reports an error."""

    kind: str = ""
    message: str = ""
    reason: str = ""


class ApiClient:
    """Sends requests to one API server, over one connection that is kept open.

    Args:
        access: The server and the credentials.
        timeout: For how many seconds to wait for the next byte of a response.
        sleep: Waits for some seconds, when the server requests that.
        now: Returns the seconds since the epoch, for credentials that expire.
        count: Counts each request by its method, status and seconds. The status is 0
            without a response; the seconds are None for streams.
        issuer: Runs the credential program, if any; by default for this client alone.
    """

    def __init__(
        self,
        access: Access,
        *,
        timeout: float = _TIMEOUT,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        count: Count | None = None,
        issuer: Issuer | None = None,
    ) -> None:
        self._count = count
        self._issuer = issuer or Issuer(now)
        self._timeout = timeout
        self._sleep = sleep
        self._may_be_old = False
        self._use(access)

    @property
    def access(self) -> Access:
        """The server and the credentials."""
        return self._access

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> bytes:
        """Read one resource; see `request`."""
        return self.request("GET", path, query=query).body

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: bytes = b"",
        content_type: str = "application/json",
    ) -> Answer:
        """Send one request.

        It is repeated if the server did not execute it and requests a retry (429).
        Writes are not repeated for any other reason.

        Args:
            method: Such as ``GET``.
            path: The path of the resource, such as ``/api/v1/pods``.
            query: The query parameters.
            body: The content.
            content_type: The type of the content.

        Returns:
            The response, with a status of success.

        Raises:
            ApiError: The server cannot be reached, or refuses.
            CredentialsError: There are no credentials.
        """
        request = Request(method, _target(path, query), body, content_type)
        return self._requested(lambda: self._connection.exchange(request), request)

    @contextlib.contextmanager
    def stream(
        self, path: str, query: Mapping[str, str | int] | None = None
    ) -> Iterator[Iterator[bytes]]:
        """Stream the response of one resource, such as a watch, in blocks.

        A block is empty if the received bytes do not contain any content yet.

        Raises:
            ApiError: The server cannot be reached, or refuses. Reading a block may
                raise it as well.
            CredentialsError: There are no credentials.
        """
        request = Request("GET", _target(path, query))
        responses: list[http.client.HTTPResponse] = []

        def begun() -> Answer:
            response = self._connection.stream(request)
            responses.append(response)
            is_fine = response.status == http.client.OK
            return (
                self._connection.read(response)
                if not is_fine
                else Answer(response.status, b"", response.headers)
            )

        self._requested(begun, request, is_stream=True)
        try:
            yield self._blocks(responses[-1])
        finally:
            self.close()  # the rest of the response is not read

    def _blocks(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        try:
            yield from blocks_of(response)
        except TimeoutError as error:
            raise ApiError(
                self._connection.where, "no data arrived on the stream in time"
            ) from error
        except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
            message = f"the stream broke: {error}"
            raise ApiError(self._connection.where, message) from error

    def _counted(
        self, send: Callable[[], Answer], request: Request, is_stream: bool
    ) -> Answer:
        """Send a request, and count it."""
        if self._count is None:
            return send()
        start, code = time.monotonic(), 0
        try:
            answer = send()
            code = answer.code
        finally:
            seconds = None if is_stream else time.monotonic() - start
            self._count(request.method, code, seconds)
        return answer

    def _use(self, access: Access) -> None:
        self._access = access
        self._credentials = Credentials(access, issuer=self._issuer)
        self._connection = Connection(access, self._credentials, self._timeout)

    def _reread(self) -> None:
        """Read the access again from its files, because the last request failed."""
        reread = self._access.reread
        new_access = reread() if reread is not None else self._access
        self._may_be_old = False
        if new_access != self._access:
            self.close()
            self._use(attrs.evolve(new_access, reread=reread))

    def _requested(
        self,
        send: Callable[[], Answer],
        request: Request,
        *,
        is_stream: bool = False,
    ) -> Answer:
        if self._may_be_old:
            self._reread()
        try:
            return self._answered(send, request, is_stream=is_stream)
        except QuaymasterError as error:
            code = error.code if isinstance(error, ApiError) else 0
            # Without an answer, or with refused credentials, the files may have
            # changed, as when a local cluster was replaced.
            self._may_be_old = code in (0, _UNAUTHORIZED)
            raise

    def _answered(
        self,
        send: Callable[[], Answer],
        request: Request,
        *,
        is_stream: bool = False,
    ) -> Answer:
        """Send a request; retry with other credentials, or later if requested."""
        is_renewed, waits = False, 0
        while True:
            answer = self._counted(send, request, is_stream)
            if http.client.OK <= answer.code < http.client.MULTIPLE_CHOICES:
                return answer
            # Once only: if new credentials are refused as well, more of them do not
            # help.
            if answer.code == _UNAUTHORIZED and not is_renewed:
                is_renewed = True
                if self._credentials.renew():
                    continue
            pause = _pause(answer, request)
            if pause is None or waits == _MOST_WAITS:
                raise self._refusal(request, answer)
            waits += 1
            self._sleep(min(pause, _LONGEST_WAIT))

    def _refusal(self, request: Request, answer: Answer) -> ApiError:
        """Return the error of a response: the server's Status as one line."""
        phrase = http.client.responses.get(answer.code, "")
        status = _Status()
        try:
            status = msgspec.json.decode(answer.body, type=_Status)
        except (msgspec.DecodeError, RecursionError):
            status.message = answer.body[:200].decode(errors="replace").strip()
        message = f": {status.message}" if status.message else ""
        path = request.target.partition("?")[0]
        named = f"{request.method} {path}: {answer.code}"
        return ApiError(
            self._connection.where,
            f"{named} {status.reason or phrase}{message}",
            code=answer.code,
            reason=status.reason,
            # After an error inside the server, a write may have been done.
            is_in_doubt=answer.code >= _SERVER_ERROR and not request.only_reads,
        )


def _target(path: str, query: Mapping[str, str | int] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _pause(answer: Answer, request: Request) -> float | None:
    """Return the seconds before the request is repeated; None if it is not repeated."""
    text = answer.headers.get("Retry-After", "")
    seconds = float(text) if text.isdecimal() else None
    if answer.code == _TOO_MANY:
        # Unlike client-go's `checkWait`, also without the header.
        return 1.0 if seconds is None else seconds
    # client-go also repeats writes, although they may have been done.
    is_safe = answer.code >= _SERVER_ERROR and request.only_reads
    return seconds if is_safe else None
