"""Turns an API server's error responses into errors of the cluster port."""

import http.client
from collections.abc import Mapping
from typing import Final

import msgspec

from quaymaster._clusters.driver.frames import Request, Response
from quaymaster._clusters.kubernetes.http1 import Reply
from quaymaster._core.contract.cluster import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ResourceExpiredError,
    UnknownOutcomeError,
)

__all__ = ["error_of", "refusal"]

_MOST: Final = 200  # characters of a response that is not a Status

_BY_REASON: Final[Mapping[str, type[ApiError]]] = {
    "AlreadyExists": AlreadyExistsError,
    "Conflict": ConflictError,
    "Expired": ResourceExpiredError,
    "Gone": ResourceExpiredError,
    "Invalid": InvalidError,
    "NotFound": NotFoundError,
}
_BY_CODE: Final[Mapping[int, type[ApiError]]] = {
    404: NotFoundError,
    409: ConflictError,
    410: ResourceExpiredError,
    422: InvalidError,
}


class _Details(msgspec.Struct):
    kind: str = ""
    name: str = ""


class _Status(msgspec.Struct):
    """The object with which the API server reports an error."""

    message: str = ""
    reason: str = ""
    details: _Details | None = None


def refusal(request: Request, reply: Reply) -> str:
    """Return the server's error as one line.

    Args:
        request: The request.
        reply: Its response, which reports an error.
    """
    status = _status_of(reply.body)
    path = request.target.partition("?")[0]
    reason = status.reason or http.client.responses.get(reply.code, "")
    message = f": {status.message}" if status.message else ""
    return f"{request.method} {path}: {reply.code} {reason}{message}"


def error_of(answered: Response) -> ApiError:
    """Return the error of the cluster port for a response."""
    if answered.is_in_doubt:
        return UnknownOutcomeError(answered.why)
    status = _status_of(answered.body)
    if status.reason == "Forbidden" and status.details is not None:
        kind, name = status.details.kind, status.details.name
        _, _, rule = status.message.partition(" is forbidden: ")
        if rule:
            return ForbiddenError(kind, name, rule)
    by_code = _BY_CODE.get(answered.code, ApiError)
    return _BY_REASON.get(status.reason, by_code)(answered.why)


def _status_of(body: bytes) -> _Status:
    try:
        return msgspec.json.decode(body, type=_Status)
    except msgspec.DecodeError:
        return _Status(message=body[:_MOST].decode(errors="replace").strip())
