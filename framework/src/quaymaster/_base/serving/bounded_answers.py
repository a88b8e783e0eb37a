"""Bounds how many requests an application on an event loop answers at once.

It needs the package starlette, from the extras ``serve`` and ``ui``.
"""

from collections.abc import Collection
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["BoundedAnswers"]

_UNAVAILABLE: Final = 503


class BoundedAnswers:
    """Rejects requests while too many others are received or answered.

    Args:
        app: Answers the requests.
        most: The most requests at once.
        free: The paths that do not count, such as those of health checks.
        body: The body of the response to a rejected request.
        media_type: Its type.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        most: int,
        free: Collection[str] = (),
        body: bytes,
        media_type: str,
    ) -> None:
        self._app = app
        self._most = most
        self._free = frozenset(free)
        self._body = body
        self._headers = [
            (b"content-type", media_type.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),  # the body of the request may still come
            (b"retry-after", b"1"),
        ]
        self._answering = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or reject a request."""
        if scope["type"] != "http" or scope["path"] in self._free:
            await self._app(scope, receive, send)
        elif self._answering >= self._most:
            await self._reject(send)
        else:
            self._answering += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._answering -= 1

    async def _reject(self, send: Send) -> None:
        start = {
            "type": "http.response.start",
            "status": _UNAVAILABLE,
            "headers": self._headers,
        }
        await send(start)
        await send({"type": "http.response.body", "body": self._body})
