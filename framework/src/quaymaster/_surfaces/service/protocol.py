"""The HTTP protocol of connections, each of which has to say something in time."""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["TimedProtocol"]

# Chosen, not measured: as long as other servers of this house wait for a request.
_HEAD_SECONDS: Final = 30


class TimedProtocol(HttpToolsProtocol):
    """Closes a connection that is silent at first, or within the head of a request.

    Between requests, and for their bodies, there are other limits.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override]  # as in the base class
        self, transport: asyncio.Transport
    ) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Wait for the end of a head."""
        self._stop()
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Wait no more."""
        self._stop()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
