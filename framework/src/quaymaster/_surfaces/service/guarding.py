"""Rejects requests of web pages, for a service without a token."""

from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from quaymaster._base.serving.foreign_requests import SentFields, refusal_of
from quaymaster._surfaces.service.errors import RequestError, problem_details

__all__ = ["WithoutBrowsers"]

_PROBLEM: Final = "application/problem+json"


class WithoutBrowsers:
    """Answers requests, except for those that a browser sends for a web page.

    Args:
        app: Answers the others.
        is_local: Whether only this machine reaches the service.
    """

    def __init__(self, app: ASGIApp, *, is_local: bool) -> None:
        self._app = app
        self._is_local = is_local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or reject a request."""
        # For each request: a dictionary is faster than the library's headers.
        headers: dict[bytes, bytes] = dict(scope["headers"])
        fields = SentFields(
            host=headers.get(b"host", b"").decode("latin-1"),
            origin=headers.get(b"origin", b"").decode("latin-1"),
            content_type=headers.get(b"content-type", b"").decode("latin-1"),
        )
        refusal = refusal_of(fields, checks_host=self._is_local)
        if refusal is None:
            await self._app(scope, receive, send)
            return
        status, problem = refusal
        error = RequestError(status.value, status.phrase, problem)
        closing = {"Connection": "close"}  # the body may still come
        response = Response(problem_details(error), error.status, closing, _PROBLEM)
        await response(scope, receive, send)
