"""Authorization of requests; statuses and texts are those of kube-scheduler v1.36.2."""

import json

import pytest

from tests.kit.internals.operation import (
    ANONYMOUS,
    Gate,
    Reply,
    ReviewError,
    User,
    Verdict,
    client_of,
)


class Register:
    """Accepts two tokens; one of them may read metrics."""

    def user_of(self, token: str) -> User | None:
        names = {"m0nitor": "monitor", "d3fault": "default"}
        return User(names[token]) if token in names else None

    def may(self, user: User, verb: str, path: str) -> Verdict:
        return Verdict((user.name, verb, path) == ("monitor", "get", "/metrics"))


class Unreachable:
    """A review that always fails."""

    def user_of(self, token: str) -> User | None:
        raise ReviewError(f"no answer about {len(token)} letters")

    def may(self, user: User, verb: str, path: str) -> Verdict:
        raise ReviewError(f"no answer about {user.name}, {verb} and {path}")


def refusal(path: str, authorization: str = "", method: str = "GET") -> Reply | None:
    return Gate(Register()).refusal(method, path, authorization, None)


def said(reply: Reply | None) -> tuple[int, str, str]:
    assert reply is not None
    tree = json.loads(reply.body)
    assert (tree["kind"], tree["apiVersion"], tree["status"]) == (
        "Status",
        "v1",
        "Failure",
    )
    return tree["code"], tree["reason"], tree["message"]


def test_user_with_the_right_is_allowed() -> None:
    assert refusal("/metrics", "Bearer m0nitor") is None


def test_user_without_the_right_is_forbidden() -> None:
    assert said(refusal("/metrics", "Bearer d3fault")) == (
        403,
        "Forbidden",
        'forbidden: User "default" cannot get path "/metrics"',
    )


def test_right_is_to_a_verb() -> None:
    assert said(refusal("/metrics", "Bearer m0nitor", "POST"))[2] == (
        'forbidden: User "monitor" cannot post path "/metrics"'
    )


def test_anonymous_user_is_forbidden() -> None:
    assert said(refusal("/metrics")) == (
        403,
        "Forbidden",
        'forbidden: User "system:anonymous" cannot get path "/metrics"',
    )


@pytest.mark.parametrize("path", ["/metrics", "/healthz"])
def test_unknown_token_is_unauthorized_everywhere(path: str) -> None:
    assert said(refusal(path, "Bearer nonsense")) == (
        401,
        "Unauthorized",
        "Unauthorized",
    )


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health_needs_no_right(path: str) -> None:
    assert refusal(path) is None
    assert refusal(path, "Bearer d3fault") is None


def test_single_checks_need_a_right() -> None:
    assert said(refusal("/readyz/ping"))[0] == 403


def test_masters_have_all_rights() -> None:
    root = User("root", groups=("system:masters",))
    assert Gate(Register()).refusal("GET", "/debug/dump", "", root) is None
    assert Gate(None).refusal("GET", "/debug/dump", "", root) is None


def test_everything_is_forbidden_if_no_review_is_possible() -> None:
    assert said(Gate(None).refusal("GET", "/metrics", "", None))[0] == 403
    assert said(Gate(None).refusal("GET", "/metrics", "Bearer x", None))[0] == 401


def test_token_that_cannot_be_reviewed_is_unauthorized() -> None:
    gate = Gate(Unreachable())
    assert said(gate.refusal("GET", "/metrics", "Bearer m0nitor", None))[0] == 401
    assert gate.refusal("GET", "/healthz", "", None) is None


def test_rights_that_cannot_be_reviewed_are_an_error() -> None:
    reply = Gate(Unreachable()).refusal("GET", "/metrics", "", None)
    assert reply is not None
    assert reply.status == 500
    assert reply.body.startswith(b'Internal Server Error: "/metrics": ')


def test_tokens_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    Gate(Unreachable()).refusal("GET", "/metrics", "Bearer m0nitor", None)
    assert caplog.messages == ["a token cannot be reviewed: no answer about 7 letters"]


def test_reason_of_a_refusal_is_shown() -> None:
    class Strict(Register):
        def may(self, user: User, verb: str, path: str) -> Verdict:
            return Verdict(False, f"{user.name} must not {verb} {path}")

    reply = Gate(Strict()).refusal("GET", "/x", "", None)
    assert said(reply)[2].endswith(": system:anonymous must not get /x")


def test_certificate_names_user_and_groups() -> None:
    subject = (
        (("organizationName", "ops"),),
        (("organizationName", "system:masters"),),
        (("commonName", "admin"),),
    )
    assert client_of({"subject": subject}) == User(
        "admin", groups=("ops", "system:masters", "system:authenticated")
    )


def test_client_without_a_certificate_is_anonymous() -> None:
    assert client_of(None) is None
    assert client_of({}) is None
    assert ANONYMOUS.groups == ("system:unauthenticated",)
