"""Reviews of users by the API server are cached for some time."""

import json
from typing import Any

import pytest

from tests.kit.internals.operation import (
    ApiReviewer,
    CachedReviewer,
    ReviewError,
    User,
    Verdict,
)

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESSES = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class Server:
    """Answers reviews as the test sets it."""

    def __init__(self, status: object) -> None:
        self.status = status
        self.asked: list[tuple[str, Any]] = []

    def post(self, path: str, body: bytes) -> bytes:
        self.asked.append((path, json.loads(body)))
        return json.dumps({"status": self.status}).encode()


def test_valid_token_returns_its_user() -> None:
    user = {"username": "mon", "uid": "7", "groups": ["ops"], "extra": {"a": ["b"]}}
    server = Server({"authenticated": True, "user": user})
    found = ApiReviewer(server.post).user_of("t0ken")
    assert found == User("mon", "7", ("ops", "system:authenticated"), {"a": ("b",)})
    assert server.asked == [
        (
            TOKENS,
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenReview",
                "spec": {"token": "t0ken"},
            },
        )
    ]


def test_invalid_token_returns_no_user() -> None:
    server = Server({"authenticated": False, "error": "invalid"})
    assert ApiReviewer(server.post).user_of("t0ken") is None


def test_rights_are_reviewed_for_a_path_and_a_verb() -> None:
    server = Server({"allowed": False, "reason": "no rule"})
    user = User("mon", "7", ("ops",), {"a": ("b",)})
    verdict = ApiReviewer(server.post).may(user, "get", "/metrics")
    assert verdict == Verdict(is_allowed=False, reason="no rule")
    [(path, review)] = server.asked
    assert path == ACCESSES
    assert review["spec"] == {
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
        "user": "mon",
        "uid": "7",
        "groups": ["ops"],
        "extra": {"a": ["b"]},
    }


def test_invalid_answer_is_an_error_that_names_the_review() -> None:
    with pytest.raises(ReviewError, match=rf"^{ACCESSES}: "):
        ApiReviewer(lambda _path, _body: b"<html>").may(User("mon"), "get", "/x")


def test_answers_are_cached_for_ten_seconds() -> None:
    server = Server({"authenticated": False, "allowed": True})
    clock = [100.0]
    reviewer = CachedReviewer(ApiReviewer(server.post), now=lambda: clock[0])
    for clock[0] in (100.0, 109.9):
        assert reviewer.user_of("t0ken") is None
        assert reviewer.may(User("mon"), "get", "/metrics").is_allowed
    assert len(server.asked) == 2
    clock[0] = 110.0
    reviewer.user_of("t0ken")
    reviewer.may(User("mon"), "get", "/metrics")
    assert len(server.asked) == 4


def test_other_reviews_are_new_requests() -> None:
    server = Server({"authenticated": False, "allowed": True})
    reviewer = CachedReviewer(ApiReviewer(server.post), now=lambda: 0.0)
    for token in ("a", "b"):
        reviewer.user_of(token)
    for user, verb, path in (
        (User("mon"), "get", "/metrics"),
        (User("mon", groups=("ops",)), "get", "/metrics"),
        (User("mon"), "post", "/metrics"),
        (User("mon"), "get", "/configz"),
    ):
        reviewer.may(user, verb, path)
    assert len(server.asked) == 6


def test_failure_is_not_cached() -> None:
    answers = [b"<html>", b'{"status": {"allowed": true}}']
    reviewer = CachedReviewer(ApiReviewer(lambda _path, _body: answers.pop(0)))
    with pytest.raises(ReviewError):
        reviewer.may(User("mon"), "get", "/metrics")
    assert reviewer.may(User("mon"), "get", "/metrics").is_allowed
