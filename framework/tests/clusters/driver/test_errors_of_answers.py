"""Answers of an API server become errors of the cluster port."""

import json

import pytest

from quaymaster.cluster import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnknownOutcomeError,
)
from tests.kit.internals.outbound import Response, error_of
from tests.kit.roads import refusal_of


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (404, "NotFound", NotFoundError),
        (409, "AlreadyExists", AlreadyExistsError),
        (409, "Conflict", ConflictError),
        (422, "Invalid", InvalidError),
        (404, "", NotFoundError),
        (409, "", ConflictError),
        (403, "Forbidden", ApiError),
        (500, "InternalError", ApiError),
    ],
)
def test_reason_decides_on_the_error_then_the_code(
    code: int, reason: str, expected: type[ApiError]
) -> None:
    body = refusal_of(code, reason, "why").body if reason else b"404 page not found"
    error = error_of(Response(1, code, body, "said"))
    assert type(error) is expected
    assert str(error) == "said"


def test_forbidden_by_a_rule_is_a_separate_error() -> None:
    status = {
        "reason": "Forbidden",
        "message": 'pods "web" is forbidden: exceeded quota: small',
        "details": {"kind": "pods", "name": "web"},
    }
    error = error_of(Response(1, 403, json.dumps(status).encode(), "said"))
    assert isinstance(error, ForbiddenError)
    assert error.reason == "exceeded quota: small"
    assert str(error) == 'pods "web" is forbidden: exceeded quota: small'


def test_unknown_outcome_takes_precedence_over_the_answer() -> None:
    body = refusal_of(409, "Conflict").body
    error = error_of(Response(1, 409, body, "said", is_in_doubt=True))
    assert type(error) is UnknownOutcomeError
