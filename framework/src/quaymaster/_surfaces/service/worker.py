"""One worker process of the service."""

import asyncio
import os
import signal
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quaymaster._base.serving.limited_connections import ACCEPTS, ConnectionLimits
from quaymaster._base.serving.loop_server import LoopServer
from quaymaster._base.serving.timed_protocol import make_protocol
from quaymaster._base.serving.tls import ServerTLS

__all__ = ["LEAVE", "Worker"]

LEAVE: Final = signal.SIGHUP
"""The signal to a worker that another one takes over."""

# More than the 90 s after which Go's clients close idle connections: if the server
# closed them, a request could be in transit.
_IDLE_SECONDS: Final = 120
# For so long, responses carry ``Connection: close``; then silent clients are closed.
_LEAVING_SECONDS: Final = 5
_CLOSE: Final = (b"connection", b"close")


class Worker(LoopServer):
    """Serves one listening socket until a signal ends it.

    Args:
        app: The application.
        tls: The certificates; None for plain HTTP.
        grace_seconds: How long requests in flight may take at the end.
        limits: The limits of connections; None for the usual ones.
    """

    def __init__(
        self,
        app: ASGIApp,
        tls: ServerTLS | None,
        grace_seconds: int,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self._app = app
        self._parent = os.getppid()
        self._must_leave = False
        self._is_leaving = False
        context = None if tls is None else tls.one_context()
        protocol = make_protocol(limits, context)
        config = uvicorn.Config(
            self._answer,
            access_log=False,
            backlog=ACCEPTS,
            http=cast("type[asyncio.Protocol]", protocol),
            interface="asgi3",
            lifespan="off",
            log_level="error",  # a warning for each invalid request could fill a disk
            proxy_headers=False,  # the client's address is not used
            server_header=False,
            timeout_graceful_shutdown=grace_seconds,
            timeout_keep_alive=_IDLE_SECONDS,
            ws="none",
        )
        super().__init__(config)

    def leave(self, _number: int, _frame: object) -> None:
        """Accept no more clients, and close each connection with its next response.

        That response carries ``Connection: close``, so no client sends a request on a
        closed connection. This is a signal handler.
        """
        self._must_leave = True

    async def on_tick(self, counter: int) -> bool:
        """Handle a `leave` that was requested; return whether to end."""
        if self._must_leave and not self._is_leaving:
            self._is_leaving = True
            for server in self.servers:
                server.close()
            asyncio.get_running_loop().call_later(_LEAVING_SECONDS, self._end)
        # If the parent was killed, nothing else would end this process.
        is_orphan = os.getppid() != self._parent
        return await super().on_tick(counter) or is_orphan

    def _end(self) -> None:
        self.should_exit = True

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_leaving:
            await self._app(scope, receive, send)
            return

        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], _CLOSE]
            await send(message)

        await self._app(scope, receive, closing)
