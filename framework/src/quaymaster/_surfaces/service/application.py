"""The service as an ASGI application."""

import hmac
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from quaymaster._base.serving.bounded_answers import BoundedAnswers
from quaymaster._surfaces.service.answers import (
    explain_answer,
    fit_answer,
    simulate_answer,
)
from quaymaster._surfaces.service.errors import RequestError, problem_details
from quaymaster._surfaces.service.limits import ServiceLimits
from quaymaster._surfaces.service.messages import (
    ExplainRequest,
    FitRequest,
    SimulateRequest,
    explained_pod,
    objects_of,
    pods_of,
    read_body,
)
from quaymaster._surfaces.service.openapi import openapi
from quaymaster._surfaces.service.readiness import Readiness
from quaymaster._surfaces.service.warm import WarmCluster

__all__ = ["make_app"]

_JSON: Final = "application/json"
_PROBLEM: Final = "application/problem+json"
_BEARER: Final = b"bearer"
_HEALTH: Final = "/healthz"
_HEADERS: Final = {
    401: {"WWW-Authenticate": "Bearer"},
    408: {"Connection": "close"},  # the rest of the body may still come
    503: {"Retry-After": "1"},
}
"""Status -> further response headers."""


def make_app(
    cluster: WarmCluster,
    *,
    token: str = "",
    limits: ServiceLimits | None = None,
    standing: Callable[[], Readiness] | None = None,
) -> Starlette:
    """Create the ASGI application for a cluster.

    Args:
        cluster: The cluster, which only the application uses from now on.
        token: The bearer token that clients must send; empty for no check.
        limits: The limits.
        standing: Returns the readiness of the input for ``/healthz``; None for an input
            that is not refreshed.
    """
    limits = limits or ServiceLimits()
    service = _Service(cluster, token, limits, standing)
    app = Starlette(
        routes=[
            Route("/v1/fit", service.fit, methods=["POST"]),
            Route("/v1/explain", service.explain, methods=["POST"]),
            Route("/v1/simulate", service.simulate, methods=["POST"]),
            Route("/openapi.json", service.describe),
            Route(_HEALTH, service.health),
        ],
        middleware=[_bounded(limits.requests)],
        exception_handlers={
            404: service.no_such_path,
            405: service.wrong_method,
            RequestError: service.refuse,
            Exception: service.fail,
        },
    )
    app.router.redirect_slashes = False  # clients do not follow redirects of POST
    return app


def _bounded(most: int) -> Middleware:
    """Bound the requests that are received and answered at once."""
    error = RequestError(503, "Too many requests", f"{most} requests are under way")
    return Middleware(
        BoundedAnswers,
        most=most,
        free=[_HEALTH],
        body=problem_details(error),
        media_type=_PROBLEM,
    )


class _Service:
    def __init__(
        self,
        cluster: WarmCluster,
        token: str,
        limits: ServiceLimits,
        readiness: Callable[[], Readiness] | None,
    ) -> None:
        self._cluster = cluster
        self._readiness = readiness
        self._expected = token.encode()
        self._limits = limits
        self._simulations = 0

    async def fit(self, request: Request) -> Response:
        """Answer ``POST /v1/fit``, on the event loop because that is faster."""
        message = read_body(await self._body(request), FitRequest)
        pods = pods_of(message, self._limits.pods, self._cluster.kubernetes)
        return _json(fit_answer(self._cluster.fit(pods, self._deadline())))

    async def explain(self, request: Request) -> Response:
        """Answer ``POST /v1/explain``."""
        message = read_body(await self._body(request), ExplainRequest)
        explanation = self._cluster.explain(
            explained_pod(message, self._cluster.kubernetes)
        )
        return _json(explain_answer(explanation, message.top))

    async def simulate(self, request: Request) -> Response:
        """Answer ``POST /v1/simulate``, on another thread because it takes long."""
        message = read_body(await self._body(request), SimulateRequest)
        # Without an `await` until it is counted, no other request comes in between.
        if self._simulations >= self._limits.simulations:
            detail = f"{self._simulations} of {self._limits.simulations} are under way"
            raise RequestError(503, "Too many simulations", detail)
        self._simulations += 1
        try:
            loaded = objects_of(message, self._cluster.kubernetes)
            result = await anyio.to_thread.run_sync(
                self._cluster.simulate, loaded.objects, self._deadline()
            )
        finally:
            self._simulations -= 1
        cluster = self._cluster
        return _json(simulate_answer(result, loaded, cluster, everything=message.all))

    async def describe(self, _request: Request) -> Response:
        """Answer ``GET /openapi.json``."""
        return _json(openapi(has_token=bool(self._expected)))

    async def health(self, _request: Request) -> Response:
        """Answer ``GET /healthz``."""
        cluster = self._cluster
        document: dict[str, object] = {
            "status": "ok",
            "nodes": cluster.nodes,
            "pods": cluster.pods,
            "unscheduled": cluster.unscheduled,
        }
        if self._readiness is not None:
            readiness = self._readiness()
            document["status"] = "stale" if readiness.failures else "ok"
            document["input"] = {
                "read": datetime.fromtimestamp(int(readiness.read_at), UTC).isoformat(),
                "refreshes": readiness.refreshes,
                "failures": readiness.failures,
                "error": readiness.error,
            }
        return _json(document)

    async def refuse(self, _request: Request, error: Exception) -> Response:
        """Answer an invalid request with its error."""
        assert isinstance(error, RequestError)
        headers = _HEADERS.get(error.status, {})
        return Response(problem_details(error), error.status, headers, _PROBLEM)

    async def no_such_path(self, request: Request, _error: Exception) -> Response:
        """Answer a request for an unknown path."""
        paths = "/v1/fit, /v1/explain, /v1/simulate, /openapi.json, /healthz"
        detail = f"unknown path {request.url.path} (only {paths})"
        return await self.refuse(request, RequestError(404, "Not found", detail))

    async def wrong_method(self, request: Request, _error: Exception) -> Response:
        """Answer a request with the wrong method."""
        right = "POST" if request.url.path.startswith("/v1/") else "GET"
        detail = f"{request.url.path} takes {right}, got {request.method}"
        return await self.refuse(
            request, RequestError(405, "Method not allowed", detail)
        )

    async def fail(self, request: Request, error: Exception) -> Response:
        """Answer a request that failed unexpectedly; the log has the traceback."""
        detail = f"{type(error).__name__}: {error}"
        return await self.refuse(request, RequestError(500, "Internal error", detail))

    def _deadline(self) -> float:
        return time.monotonic() + self._limits.timeout_seconds

    async def _body(self, request: Request) -> bytes:
        """Check the token of a request, and read its body.

        Raises:
            RequestError: The token is missing or wrong, or the body is too long.
        """
        # First: without the token, no body is read.
        self._check_token(request)
        most = self._limits.body_bytes
        declared = request.headers.get("content-length", "")
        # A body that declares its length is refused before it arrives.
        if declared.isdecimal() and int(declared) > most:
            raise _too_long(most)
        parts, length = [], 0
        seconds = self._limits.timeout_seconds
        try:
            with anyio.fail_after(seconds):
                async for part in request.stream():
                    parts.append(part)
                    length += len(part)
                    if length > most:
                        raise _too_long(most)
        except ClientDisconnect as error:
            raise RequestError(
                400, "Malformed request", "the body is incomplete"
            ) from error
        except TimeoutError as error:
            detail = f"the body did not arrive within {seconds:g} s"
            raise RequestError(408, "Request timeout", detail) from error
        return b"".join(parts)

    def _check_token(self, request: Request) -> None:
        if not self._expected:
            return
        # The library decodes headers as Latin-1, whatever they are.
        header = request.headers.get("authorization", "").encode("latin-1")
        scheme, _, token = header.partition(b" ")
        is_bearer = scheme.lower() == _BEARER
        # Compared in any case, and in constant time, so that durations reveal nothing.
        if not hmac.compare_digest(token.strip(), self._expected) or not is_bearer:
            detail = "expected the header 'Authorization: Bearer TOKEN' with the token"
            raise RequestError(401, "Unauthorized", detail)


def _json(document: object) -> Response:
    return Response(msgspec.json.encode(document), media_type=_JSON)


def _too_long(most: int) -> RequestError:
    return RequestError(
        413, "Body too long", f"expected a body of at most {most} bytes"
    )
