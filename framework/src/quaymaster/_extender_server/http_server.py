"""The extender protocol over HTTP, one request at a time."""

import logging
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar, Final

from quaymaster._extender_server.messages import (
    filter_answer,
    filter_error,
    read_nodes_request,
    scores_answer,
)
from quaymaster._extender_server.service import ExtenderService
from quaymaster.errors import QuaymasterError

__all__ = ["ExtenderServer"]

_SECONDS_TO_SEND_A_REQUEST: Final = 30

_log = logging.getLogger(__name__)


class ExtenderServer(HTTPServer):
    """Serves ``.../filter`` and ``.../prioritize`` below any path.

    A filter that fails says so in the protocol's ``Error`` field. Prioritize has none,
    so there it is the status 500, with the same field for people to read.

    Args:
        address: Host and port; port 0 takes a free one.
        service: What answers.

    Raises:
        OSError: The address cannot be listened on.
    """

    def __init__(self, address: tuple[str, int], service: ExtenderService) -> None:
        super().__init__(address, _Handler)
        self.service = service

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self.server_address[0]!s}:{self.server_port}"

    def service_actions(self) -> None:
        """Go on with what is due between requests."""
        self.service.catch_up()

    def handle_error(
        self,
        request: object,  # noqa: ARG002 - the base class's
        client_address: object,
    ) -> None:
        """Note that a connection broke; the next one is none the worse for it."""
        _log.info("lost the connection to %s", client_address, exc_info=True)

    def answer(self, verb: str, body: bytes) -> tuple[HTTPStatus, bytes]:
        """Answer a request; whatever goes wrong is part of the answer."""
        self.service.catch_up()
        try:
            request = read_nodes_request(body)
            if verb == "filter":
                found = filter_answer(request, self.service.filter(request))
            else:
                found = scores_answer(self.service.prioritize(request))
        except QuaymasterError as error:
            problem = str(error)
        except Exception as error:
            _log.exception("%s failed", verb)
            problem = str(error) or type(error).__name__
        else:
            return HTTPStatus.OK, found
        failed = HTTPStatus.INTERNAL_SERVER_ERROR
        return HTTPStatus.OK if verb == "filter" else failed, filter_error(problem)


class _Handler(BaseHTTPRequestHandler):
    # Others wait meanwhile, so nobody may keep a connection open and say nothing.
    timeout: ClassVar[float | None] = _SECONDS_TO_SEND_A_REQUEST

    def do_POST(self) -> None:
        verb = self.path.rstrip("/").rsplit("/", 1)[-1]
        if verb not in ("filter", "prioritize"):
            problem = f"expected .../filter or .../prioritize, got {self.path}"
            self._send(HTTPStatus.NOT_FOUND, filter_error(problem))
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            problem = "expected a Content-Length"
            self._send(HTTPStatus.LENGTH_REQUIRED, filter_error(problem))
            return
        server = self.server
        assert isinstance(server, ExtenderServer)
        self._send(*server.answer(verb, self.rfile.read(int(length))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        _log.debug(format, *args)

    def _send(self, status: HTTPStatus, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
