"""What an API server says when it refuses, and which error of the port that is."""

import http.client
from collections.abc import Mapping
from typing import Final

import msgspec

from quaymaster._clusters.driver.frames import Answered, Asked
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

_MOST: Final = 200  # characters of an answer that is no Status

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
    """An object by which the API server says what is wrong."""

    message: str = ""
    reason: str = ""
    details: _Details | None = None


def refusal(asked: Asked, reply: Reply) -> str:
    """What the server says, in one line.

    Args:
        asked: The request.
        reply: Its answer, which is none of success.
    """
    status = _status_of(reply.body)
    path = asked.target.partition("?")[0]
    reason = status.reason or http.client.responses.get(reply.code, "")
    said = f": {status.message}" if status.message else ""
    return f"{asked.method} {path}: {reply.code} {reason}{said}"


def error_of(answered: Answered) -> ApiError:
    """The error of the cluster port that an answer stands for."""
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
