"""Handles one connection: its requests, one after the other."""

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from quaymaster._base.serving.foreign_requests import (
    Refusal,
    SentFields,
    refusal_of,
)
from quaymaster._base.serving.handler import TimedHandler
from quaymaster._surfaces.extender_server.bodies import (
    BodiesFullError,
    Body,
    Part,
    Piece,
)
from quaymaster._surfaces.extender_server.messages import filter_error
from quaymaster._surfaces.extender_server.node_lists import ReadNodes
from quaymaster._surfaces.extender_server.service import ServiceError

if TYPE_CHECKING:  # it needs this module
    from quaymaster._surfaces.extender_server.http_server import ExtenderServer

__all__ = ["Handler", "Reply"]

Reply: TypeAlias = tuple[HTTPStatus, Sequence[Part]]
"""A status, and the parts of a body."""

_LONGEST_PATH: Final = 200  # characters of a path in a message
_JSON: Final = "application/json"

_log = logging.getLogger(__name__)


class Handler(TimedHandler):
    """Reads requests on its own thread; another thread answers them."""

    @property
    def _extender(self) -> "ExtenderServer":
        return cast("ExtenderServer", self.server)

    def do_GET(self) -> None:  # noqa: N802 - as the library calls it
        """Answer the two probes."""
        path = self.path.partition("?")[0]
        if path == "/healthz":
            self._send(HTTPStatus.OK, [b"ok"], "text/plain")
        elif path == "/readyz":
            self._send_readiness()
        else:
            problem = f"expected /healthz or /readyz, got {path[:_LONGEST_PATH]}"
            self._send(HTTPStatus.NOT_FOUND, [filter_error(problem)])

    def do_POST(self) -> None:  # noqa: N802 - as the library calls it
        """Answer filter or prioritize."""
        verb = self.path.rstrip("/").rsplit("/", 1)[-1]
        if verb not in ("filter", "prioritize"):
            path = self.path[:_LONGEST_PATH]
            problem = f"expected .../filter or .../prioritize, got {path}"
            self._refuse(HTTPStatus.NOT_FOUND, problem)
        elif (refusal := self._refusal()) is not None:
            self._refuse(*refusal)
        else:
            self._answer(verb, int(self.headers["Content-Length"]))

    def handle_expect_100(self) -> bool:
        """Ask for the body, unless the request would be refused."""
        refusal = self._refusal()
        if refusal is None:
            return super().handle_expect_100()
        self._refuse(*refusal)
        return False

    def _refusal(self) -> tuple[HTTPStatus, str] | None:
        """Return why the head of a request is rejected, or None."""
        if not self._is_known_client():
            expected = "expected a client certificate (--client-ca-file)"
            return HTTPStatus.UNAUTHORIZED, expected
        if (refusal := self._refusal_of_web_page()) is not None:
            return refusal
        length = self.headers.get("Content-Length", "")
        most = self._extender.options.max_request_bytes
        if not length.isdecimal():
            return HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length"
        if int(length) > most:
            problem = f"expected at most {most} bytes (--max-request-bytes)"
            too_large = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            return too_large, f"{problem}, got a request of {length}"
        return None

    def _is_known_client(self) -> bool:
        return not self._has_certificates or bool(self.connection.getpeercert())

    @property
    def _has_certificates(self) -> bool:
        tls = self._extender.options.tls
        return tls is not None and tls.asks_clients

    def _refusal_of_web_page(self) -> Refusal | None:
        """Return why a request may be that of a web page, or None.

        kube-scheduler sends JSON without an ``Origin`` (``pkg/scheduler/extender.go``).
        """
        if self._has_certificates:
            return None
        fields = SentFields(
            host=self.headers.get("Host", ""),
            origin=self.headers.get("Origin", ""),
            content_type=self.headers.get("Content-Type", ""),
        )
        return refusal_of(fields, checks_host=False)

    def _answer(self, verb: str, length: int) -> None:
        try:
            body = self._extender.receiver.receive(self.buffered.readinto, length)
        except TimeoutError:
            seconds = self._extender.options.read_seconds
            problem = f"expected the whole request within {seconds:g} s"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, problem)
            return
        except BodiesFullError:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many large requests")
            return
        if not self._extender.slots.acquire(blocking=False):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests at once")
            return
        try:
            self._answer_body(verb, body)
        finally:
            self._extender.slots.release()

    def _answer_body(self, verb: str, body: Body | ReadNodes) -> None:
        self._extender.set_busy(self.connection, True)
        try:
            reply = self._extender.ask(verb, body).result()
        except ServiceError as error:
            reply = HTTPStatus.SERVICE_UNAVAILABLE, [filter_error(str(error))]
        self._send(*reply)
        self._extender.set_busy(self.connection, False)

    def _send_readiness(self) -> None:
        turn: Future[None] = self._extender.ask_for_a_turn()
        seconds = self._extender.options.ready_seconds
        try:
            turn.result(seconds)
        except (TimeoutError, ServiceError) as error:
            turn.cancel()
            problem = str(error) or f"busy for {seconds:g} s"
            unavailable = HTTPStatus.SERVICE_UNAVAILABLE
            self._send(unavailable, [problem.encode()], "text/plain")
        else:
            self._send(HTTPStatus.OK, [b"ok"], "text/plain")

    def _refuse(self, status: HTTPStatus, problem: str) -> None:
        """Answer without reading the body, and end the connection."""
        _log.warning(
            "rejected a request of %s (%d): %s", self.client_address[0], status, problem
        )
        self.reject(status, filter_error(problem), _JSON)

    def _send(
        self, status: HTTPStatus, body: Sequence[Part], kind: str = _JSON
    ) -> None:
        parts = [part.text if isinstance(part, Piece) else part for part in body]
        self.send_body(status, parts, [("Content-Type", kind)])
