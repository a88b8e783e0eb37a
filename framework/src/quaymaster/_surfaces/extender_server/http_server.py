"""Serves the extender protocol over HTTP: many threads read, and one answers."""

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from http import HTTPStatus
from socket import socket
from typing import Final

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.serving.connections import most_connections
from quaymaster._base.serving.server import TimedServer
from quaymaster._base.serving.tls import ServerTLS
from quaymaster._surfaces.extender_server.bodies import Body, Part
from quaymaster._surfaces.extender_server.handler import Handler, Reply
from quaymaster._surfaces.extender_server.messages import (
    RequestReader,
    filter_answer,
    filter_error,
    scores_answer,
)
from quaymaster._surfaces.extender_server.node_lists import ReadNodes
from quaymaster._surfaces.extender_server.questions import Questions
from quaymaster._surfaces.extender_server.receiving import Receiver
from quaymaster._surfaces.extender_server.service import ExtenderService

__all__ = ["ExtenderServer", "ServerOptions"]

# Bodies of the largest size that fit in memory together. Schedulers send one request
# at a time, and the list of the latest nodes keeps another one.
_BODIES_AT_ONCE: Final = 3

_log = logging.getLogger(__name__)


@attrs.frozen(kw_only=True)
class ServerOptions:
    """Options of the server.

    Attributes:
        tls: The certificates; without them, connections are not encrypted.
        max_request_bytes: The longest request that is read.
        idle_seconds: How long a connection may be silent between two requests. It is
            more than the 90 s after which Go's clients close it: if the server closed
            it, a request could be in transit.
        read_seconds: How long a request may take to arrive, and a response to be read.
        ready_seconds: How long a probe of ``/readyz`` waits for its turn.
        connections: The most connections.
        answers: The most requests that wait for their answer; more are rejected.
    """

    tls: ServerTLS | None = None
    max_request_bytes: int = 256 << 20
    idle_seconds: float = 120.0
    read_seconds: float = 30.0
    ready_seconds: float = 1.0
    connections: int = attrs.field(factory=most_connections)
    answers: int = 64  # chosen, not measured: a scheduler sends one request at a time


class ExtenderServer(TimedServer):
    """Serves ``.../filter`` and ``.../prioritize`` below any path, and two probes.

    A failed filter sets the protocol's ``Error`` field. The response of prioritize has
    no such field, so its failure has the status 500, and the field is for people.

    Args:
        address: Host and port; port 0 chooses a free one.
        service: Handles the requests; only the thread of `serve_forever` uses it.
        options: The options.

    Attributes:
        options: The same.
        service: The same.
        receiver: Takes in the bodies of requests, on any thread.
        slots: The requests that may still wait for their answer.

    Raises:
        OSError: The server cannot listen on the address.
    """

    def __init__(
        self,
        address: tuple[str, int],
        service: ExtenderService,
        options: ServerOptions | None = None,
    ) -> None:
        self.options = options or ServerOptions()
        self.service = service
        self._reader = RequestReader()
        self.receiver = Receiver(
            self._reader.lists, self.options.max_request_bytes * _BODIES_AT_ONCE
        )
        self.slots = threading.BoundedSemaphore(self.options.answers)
        self._questions = Questions(service)
        super().__init__(address, Handler, self.options)

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        """Answer on this thread, and accept on another, until `shutdown` is called.

        Args:
            poll_interval: How many seconds it may take to stop accepting.
        """
        accepting = threading.Thread(
            target=super().serve_forever, args=(poll_interval,), name="accepting"
        )
        accepting.start()
        try:
            self._questions.serve()
        finally:
            self._questions.stop()
            super().shutdown()
            accepting.join()

    def shutdown(self) -> None:
        """End `serve_forever`; called on another thread."""
        self._questions.stop()

    def ask(self, verb: str, body: Body | ReadNodes) -> "Future[Reply]":
        """Queue a request for the service's thread; any thread may call it."""
        return self._questions.ask(lambda: self.answer(verb, body))

    def ask_for_a_turn(self) -> "Future[None]":
        """Queue a call that shows that the service's thread is alive."""
        return self._questions.ask(lambda: None)

    def answer(self, verb: str, body: Body | ReadNodes) -> Reply:
        """Answer a request; errors are logged and become part of the response."""
        pod = "a pod"
        try:
            request = self._reader.read(body)
            pod = f"pod {request.pod.key}"
            parts: Sequence[Part]
            if verb == "filter":
                parts = filter_answer(request, self.service.filter(request))
            else:
                parts = [scores_answer(self.service.prioritize(request))]
        except QuaymasterError as error:
            problem = str(error)
            _log.warning("%s of %s failed: %s", verb, pod, problem)
        except Exception as error:
            problem = str(error) or type(error).__name__
            _log.exception("%s of %s failed: %s", verb, pod, problem)
        else:
            return HTTPStatus.OK, parts
        failed = HTTPStatus.INTERNAL_SERVER_ERROR
        # The response of filter has a field for errors, and that of prioritize has
        # none, so only its status can show one.
        return HTTPStatus.OK if verb == "filter" else failed, [filter_error(problem)]

    def set_busy(self, connection: socket, is_busy: bool) -> None:
        """Note that a request is being answered, or that it has been."""
        self.connections.set_busy(connection, is_busy)
