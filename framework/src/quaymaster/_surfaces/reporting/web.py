"""The live page, served to this machine only.

Every client with the token may use it. The token is in the printed address, and stays
in a cookie that no other site's requests carry. Requests that name another host are
refused, so that no page elsewhere reaches this one by a name of its own.
"""

import asyncio
import hmac
import socket
from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

import anyio
import cattrs
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.serving.bounded_answers import BoundedAnswers
from quaymaster._base.serving.foreign_requests import SentFields, refusal_of
from quaymaster._base.serving.limited_connections import ACCEPTS, ConnectionLimits
from quaymaster._base.serving.loop_server import LoopServer
from quaymaster._base.serving.timed_protocol import make_protocol
from quaymaster._surfaces.reporting.report import assets, live_page
from quaymaster._surfaces.reporting.workbench import BusyError, Request, Workbench

__all__ = ["make_app", "make_server", "serve"]

DocumentT = TypeVar("DocumentT")

_LARGEST: Final = 256 * 1024 * 1024
"""The largest request that is read, in bytes: manifests of a very large cluster."""
_AT_ONCE: Final = 16
"""The most requests at once: more than a browser sends."""
_UNKNOWN: Final = "application/octet-stream"
_HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src data: blob:; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def make_app(
    workbench: Workbench, token: str, *, body_seconds: float = 60.0
) -> Starlette:
    """Make the application.

    Args:
        workbench: Handles the requests.
        token: What a browser has to know.
        body_seconds: How long a body may take to arrive: files of this machine.
    """
    style, script, library = assets(live=True)
    texts = {
        "/page.css": (style, "text/css"),
        "/page.js": (script, "text/javascript"),
        "/charts.js": (library, "text/javascript"),
    }

    def text(request: HttpRequest) -> Response:
        content, kind = texts[request.url.path]
        return Response(content, media_type=kind)

    def home(_request: HttpRequest) -> Response:
        return Response(live_page(), media_type="text/html")

    def state(_request: HttpRequest) -> Response:
        return _json(workbench.state())

    def progress(_request: HttpRequest) -> Response:
        return _json(workbench.progress())

    async def run(request: HttpRequest) -> Response:
        settings = _structured(await _body(request, body_seconds))
        return _json(await run_in_threadpool(workbench.run, settings))

    async def explain(request: HttpRequest) -> Response:
        body = _decoded(await _body(request, body_seconds), dict[str, str])
        explained = await run_in_threadpool(
            workbench.explain, body.get("run", ""), body.get("pod", "")
        )
        return _json(explained)

    async def suggest(request: HttpRequest) -> Response:
        body = _decoded(await _body(request, body_seconds), dict[str, str])
        suggested = await run_in_threadpool(workbench.suggest, body.get("run", ""))
        return _json(suggested)

    return Starlette(
        routes=[
            Route("/", home),
            *(Route(path, text) for path in texts),
            Route("/api/state", state),
            Route("/api/progress", progress),
            Route("/api/run", run, methods=["POST"]),
            Route("/api/explain", explain, methods=["POST"]),
            Route("/api/suggest", suggest, methods=["POST"]),
        ],
        middleware=[
            Middleware(
                BoundedAnswers,
                most=_AT_ONCE,
                body=b"too many requests at once\n",
                media_type="text/plain",
            ),
            Middleware(_Guard, token=token),
            Middleware(GZipMiddleware, minimum_size=1024),
        ],
        exception_handlers={
            QuaymasterError: _refuse,
            msgspec.DecodeError: _refuse,
            _BodyError: _refuse,
        },
    )


def serve(app: Starlette, listening: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM.

    Args:
        app: The application.
        listening: A socket that listens.
    """
    make_server(app).run(sockets=[listening])


def make_server(
    app: Starlette, limits: ConnectionLimits | None = None
) -> uvicorn.Server:
    """Make a server of the application.

    Args:
        app: The application.
        limits: The limits of its connections; None for the usual ones.
    """
    config = uvicorn.Config(
        app,
        access_log=False,
        backlog=ACCEPTS,
        http=cast("type[asyncio.Protocol]", make_protocol(limits)),
        lifespan="off",
        log_level="error",  # a warning for each invalid request could fill a disk
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return LoopServer(config)


class _BodyError(Exception):
    """The body of a request is too large, or takes too long."""


class _Guard:
    """Lets in who has the token, from this machine, by a name of this machine."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = HttpRequest(scope)
        answer = self._answer(request)
        if answer is not None:
            await answer(scope, receive, _with_headers(send))
            return
        await self._app(scope, receive, _with_headers(send))

    def _answer(self, request: HttpRequest) -> Response | None:
        """Return what is answered at once; None if the request may pass."""
        host = request.headers.get("host", "")
        name, colon, port = host.rpartition(":")
        # A foreign page may have its name resolved to this machine (DNS rebinding). Its
        # requests still have that name.
        if (name if colon and port.isdecimal() else host) not in _HOSTS:
            return _plain("this page is not served under that name", 403)
        # Cookies do not distinguish ports, so two such pages would overwrite each
        # other's.
        cookie = f"quaymaster-{port}"
        given = request.query_params.get("token", "")
        if request.url.path == "/" and given and self._is_token(given):
            # So that the token stays neither in the address bar nor in the history.
            home = RedirectResponse("/", status_code=303)
            home.set_cookie(cookie, self._token, httponly=True, samesite="strict")
            return home
        if not self._is_token(request.cookies.get(cookie, "")):
            return _plain("open the address that was printed, with its token", 401)
        if request.method not in ("GET", "HEAD"):
            return _foreign(request.headers, host)
        return None

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._token.encode())


def _foreign(headers: Headers, host: str) -> Response | None:
    """Return the response to a request of another site; None for one of the page."""
    fields = SentFields(
        host=host,
        origin=headers.get("origin", ""),
        content_type=headers.get("content-type", _UNKNOWN),
    )
    refusal = refusal_of(fields, checks_host=False, own_origin=f"http://{host}")
    return None if refusal is None else _plain(refusal[1], refusal[0])


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [(k.lower().encode(), v.encode()) for k, v in _HEADERS.items()]
            message["headers"] = [*message.get("headers", ()), *headers]
        await send(message)

    return sending


async def _body(request: HttpRequest, seconds: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        with anyio.fail_after(seconds):
            async for part in request.stream():
                size += len(part)
                if size > _LARGEST:
                    raise _BodyError(f"the request is larger than {_LARGEST} bytes")
                parts.append(part)
    except TimeoutError as error:
        problem = f"the request did not arrive within {seconds:g} s"
        raise _BodyError(problem) from error
    return b"".join(parts)


def _structured(body: bytes) -> Request:
    try:
        return cattrs.structure(_decoded(body, object), Request)
    except cattrs.BaseValidationError as error:
        text = "; ".join(cattrs.transform_error(error))
        raise QuaymasterError(f"this is no request to simulate: {text}") from error


def _decoded(body: bytes, kind: type[DocumentT]) -> DocumentT:
    try:
        return msgspec.json.decode(body, type=kind)
    except RecursionError as error:
        raise QuaymasterError("the request is nested too deeply") from error


def _json(value: Mapping[str, Any] | list[dict[str, Any]]) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _plain(text: str, status: int) -> Response:
    return Response(text + "\n", status_code=status, media_type="text/plain")


def _refuse(_request: HttpRequest, error: Exception) -> Response:
    status = 409 if isinstance(error, BusyError) else 400
    body = msgspec.json.encode({"error": str(error)})
    return Response(body, status_code=status, media_type="application/json")
