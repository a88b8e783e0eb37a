"""One process that answers."""

import asyncio
import os
import signal
from typing import Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quaymaster._base.serving.tls import ServerTLS
from quaymaster._surfaces.service.protocol import TimedProtocol

__all__ = ["LEAVE", "Worker"]

LEAVE: Final = signal.SIGHUP
"""Tells a worker that another one takes over."""

_BACKLOG: Final = 2048
# More than the 90 s after which Go's clients close idle connections themselves: if the
# server did, a request might be on its way.
_IDLE_SECONDS: Final = 120
# Chosen, not measured: for how long clients that ask now and then are told to connect
# anew, before those that are silent are cut off.
_LEAVING_SECONDS: Final = 5
_CLOSE: Final = (b"connection", b"close")


class Worker(uvicorn.Server):
    """Answers on one listening socket until it is told to end.

    Args:
        app: Answers.
        tls: The certificates; None speaks plain HTTP.
        grace_seconds: How long answers that are under way may take at the end.
    """

    def __init__(self, app: ASGIApp, tls: ServerTLS | None, grace_seconds: int) -> None:
        self._app = app
        self._parent = os.getppid()
        self._must_leave = False
        self._is_leaving = False
        config = uvicorn.Config(
            self._answer,
            access_log=False,
            backlog=_BACKLOG,
            http=TimedProtocol,
            interface="asgi3",
            lifespan="off",
            log_level="warning",
            proxy_headers=False,  # nobody asks who the client is
            server_header=False,
            timeout_graceful_shutdown=grace_seconds,
            timeout_keep_alive=_IDLE_SECONDS,
            ws="none",
        )
        if tls is not None:
            config.load()
            config.ssl = tls.one_context()
        super().__init__(config)

    def leave(self, _number: int, _frame: object) -> None:
        """Take no more clients, and let go of those that there are as they ask.

        Their next answer tells them to connect anew, so none of them meets a connection
        that was closed while it asked. This is a handler of signals.
        """
        self._must_leave = True

    async def on_tick(self, counter: int) -> bool:
        """See to what has happened meanwhile; say whether it is time to end."""
        if self._must_leave and not self._is_leaving:
            self._is_leaving = True
            for server in self.servers:
                server.close()
            asyncio.get_running_loop().call_later(_LEAVING_SECONDS, self._end)
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
