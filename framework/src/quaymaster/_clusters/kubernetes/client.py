"""A small client of an API server: reads, writes and follows."""

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
"""Takes method, status and seconds of a request."""


class _Status(msgspec.Struct):
    """An object by which the API server says what is wrong."""

    kind: str = ""
    message: str = ""
    reason: str = ""


class ApiClient:
    """Talks to one API server, over one connection that is kept.

    Args:
        access: Where it is, and as whom to ask.
        timeout: For how many seconds to wait for the next byte of an answer.
        sleep: Waits for some seconds, when the server asks for that.
        now: Seconds since the epoch, for credentials that expire.
        count: Takes the method of each request, the status of its answer (0 if there
            was none), and for how many seconds that was waited for; None for what is
            read as it comes.
        issuer: Asks the program that gives credentials, if there is one; by default for
            this client alone.
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
        """Where the server is, and as whom it is asked."""
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
        """Make one request.

        It is sent again where the server says that it did not take it, and is to be
        asked later. What writes is never sent again otherwise.

        Args:
            method: Such as ``GET``.
            path: The path of the resource, such as ``/api/v1/pods``.
            query: What else to ask for.
            body: What to send.
            content_type: What the body is.

        Returns:
            The answer; its code is one of success.

        Raises:
            ApiError: The server cannot be asked, or refuses.
            CredentialsError: There are no credentials.
        """
        request = Request(method, _target(path, query), body, content_type)
        return self._insisting(lambda: self._connection.exchange(request), request)

    @contextlib.contextmanager
    def stream(
        self, path: str, query: Mapping[str, str | int] | None = None
    ) -> Iterator[Iterator[bytes]]:
        """Read one resource as it comes, such as a watch; in blocks of some size.

        A block is empty if what has come is no content yet.

        Raises:
            ApiError: The server cannot be asked, or refuses; while it is read, too.
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

        self._insisting(begun, request, is_stream=True)
        try:
            yield self._blocks(responses[-1])
        finally:
            self.close()  # what is left of the answer is not wanted

    def _blocks(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        try:
            yield from blocks_of(response)
        except TimeoutError as error:
            raise ApiError(self._connection.where, "the stream fell silent") from error
        except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
            message = f"the stream broke: {error}"
            raise ApiError(self._connection.where, message) from error

    def _counted(
        self, ask: Callable[[], Answer], request: Request, is_stream: bool
    ) -> Answer:
        """Ask, and tell whoever counts."""
        if self._count is None:
            return ask()
        start, code = time.monotonic(), 0
        try:
            answer = ask()
            code = answer.code
        finally:
            seconds = None if is_stream else time.monotonic() - start
            self._count(request.method, code, seconds)
        return answer

    def _use(self, access: Access) -> None:
        self._access = access
        self._credentials = Credentials(access, issuer=self._issuer)
        self._connection = Connection(access, self._credentials, self._timeout)

    def _look_again(self) -> None:
        """Go by what the files say now, if the last request has come to nothing."""
        reread = self._access.reread
        found = reread() if reread is not None else self._access
        self._may_be_old = False
        if found != self._access:
            self.close()
            self._use(attrs.evolve(found, reread=reread))

    def _insisting(
        self,
        ask: Callable[[], Answer],
        request: Request,
        *,
        is_stream: bool = False,
    ) -> Answer:
        if self._may_be_old:
            self._look_again()
        try:
            return self._answered(ask, request, is_stream=is_stream)
        except QuaymasterError as error:
            code = error.code if isinstance(error, ApiError) else 0
            self._may_be_old = code in (0, _UNAUTHORIZED)
            raise

    def _answered(
        self,
        ask: Callable[[], Answer],
        request: Request,
        *,
        is_stream: bool = False,
    ) -> Answer:
        """Ask, again with other credentials, and again later if the server says so."""
        is_renewed, waits = False, 0
        while True:
            answer = self._counted(ask, request, is_stream)
            if http.client.OK <= answer.code < http.client.MULTIPLE_CHOICES:
                return answer
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
        """The error of an answer: what the server's Status says, in one line."""
        phrase = http.client.responses.get(answer.code, "")
        status = _Status()
        try:
            status = msgspec.json.decode(answer.body, type=_Status)
        except msgspec.DecodeError:
            status.message = answer.body[:200].decode(errors="replace").strip()
        said = f": {status.message}" if status.message else ""
        path = request.target.partition("?")[0]
        named = f"{request.method} {path}: {answer.code}"
        return ApiError(
            self._connection.where,
            f"{named} {status.reason or phrase}{said}",
            code=answer.code,
            reason=status.reason,
            is_in_doubt=answer.code >= _SERVER_ERROR and not request.only_reads,
        )


def _target(path: str, query: Mapping[str, str | int] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _pause(answer: Answer, request: Request) -> float | None:
    """How long to wait before the request is sent again; None if it is not."""
    text = answer.headers.get("Retry-After", "")
    seconds = float(text) if text.isdecimal() else None
    if answer.code == _TOO_MANY:
        return 1.0 if seconds is None else seconds
    is_safe = answer.code >= _SERVER_ERROR and request.only_reads
    return seconds if is_safe else None
