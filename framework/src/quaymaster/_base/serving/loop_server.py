"""An HTTP server on an event loop that accepts connections in small batches.

It needs the package uvicorn, from the extras ``serve`` and ``ui``.
"""

import asyncio
import logging
import socket
from typing import Any, Final

import uvicorn

from quaymaster._base.serving.limited_connections import BACKLOG

__all__ = ["LoopServer"]

_SECONDS_BETWEEN_LINES: Final = 60.0

_log = logging.getLogger(__name__)


class LoopServer(uvicorn.Server):
    """Serves listening sockets; its configuration has `ACCEPTS` as ``backlog``."""

    _next_line = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept; more clients may wait than are accepted at once."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._log_trouble)
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)

    def _log_trouble(
        self,
        loop: asyncio.AbstractEventLoop,
        context: dict[str, Any],
    ) -> None:
        """Log an error of the loop; those of accepting come thousands of times."""
        if "accept()" not in context["message"]:
            loop.default_exception_handler(context)
        elif loop.time() >= self._next_line:
            self._next_line = loop.time() + _SECONDS_BETWEEN_LINES
            _log.error("cannot accept connections: %s", context.get("exception"))
