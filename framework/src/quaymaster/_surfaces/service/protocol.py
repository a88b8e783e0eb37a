"""The HTTP protocol of connections, with a timeout for the head of a request."""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["TimedProtocol"]

# As long as the project's other servers wait for a request.
_HEAD_SECONDS: Final = 30


class TimedProtocol(HttpToolsProtocol):
    """Closes a connection that is silent at first, or within the head of a request.

    Between requests, and for their bodies, there are other limits.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override]  # as in the base class
        self, transport: asyncio.Transport
    ) -> None:
        """Start the timeout of the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Start the timeout of a request's head."""
        self._stop()
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Cancel the timeout."""
        self._stop()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
