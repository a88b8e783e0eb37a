"""Health checks: the texts are those that a kube-scheduler v1.36.2 answered."""

import logging

import pytest

from tests.kit.internals.operation import PING, Check, Page, Query, health_pages

LEADING = Check("leaderElection", lambda: "")
SYNCED = Check("sched-handler-sync", lambda: "")
BROKEN = Check("informer-sync", lambda: "Pod has not been listed")


def asked(page: Page, query: Query | None = None) -> tuple[int, str]:
    reply = page(query or {})
    return reply.status, reply.body.decode()


def test_all_is_well() -> None:
    page = health_pages("/readyz", [LEADING, SYNCED])["/readyz"]
    assert asked(page) == (200, "ok")


def test_all_is_well_in_more_words() -> None:
    page = health_pages("/readyz", [LEADING, SYNCED])["/readyz"]
    assert asked(page, {"verbose": [""]}) == (
        200,
        "[+]leaderElection ok\n[+]sched-handler-sync ok\nreadyz check passed\n",
    )


def test_failure_is_told_in_full_but_for_the_reason() -> None:
    page = health_pages("/readyz", [LEADING, BROKEN])["/readyz"]
    assert asked(page) == (
        500,
        (
            "[+]leaderElection ok\n"
            "[-]informer-sync failed: reason withheld\n"
            "readyz check failed\n"
        ),
    )


def test_reason_of_a_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        health_pages("/readyz", [BROKEN])["/readyz"]({})
    assert caplog.messages == [
        "readyz check failed: informer-sync: Pod has not been listed"
    ]


def test_excluded_check_is_not_asked() -> None:
    page = health_pages("/readyz", [LEADING, BROKEN])["/readyz"]
    assert asked(page, {"exclude": ["informer-sync"], "verbose": [""]}) == (
        200,
        "[+]leaderElection ok\n[+]informer-sync excluded: ok\nreadyz check passed\n",
    )


def test_unknown_exclusions_are_warned_of() -> None:
    page = health_pages("/readyz", [LEADING])["/readyz"]
    assert asked(page, {"exclude": ["b", "a"], "verbose": [""]}) == (
        200,
        (
            "[+]leaderElection ok\n"
            'warn: some health checks cannot be excluded: no matches for "a","b"\n'
            "readyz check passed\n"
        ),
    )


def test_path_without_checks_answers_a_ping() -> None:
    pages = health_pages("/livez", [])
    assert asked(pages["/livez"], {"verbose": [""]}) == (
        200,
        "[+]ping ok\nlivez check passed\n",
    )
    assert asked(pages["/livez/ping"]) == (200, "ok")


def test_single_check_has_a_page_that_gives_the_reason() -> None:
    pages = health_pages("/readyz", [PING, BROKEN])
    assert sorted(pages) == ["/readyz", "/readyz/informer-sync", "/readyz/ping"]
    assert asked(pages["/readyz/informer-sync"]) == (
        500,
        "internal server error: Pod has not been listed\n",
    )


def test_check_that_breaks_is_a_failure() -> None:
    def broken() -> str:
        raise ValueError("no such thing")

    pages = health_pages("/readyz", [Check("odd", broken)])
    assert asked(pages["/readyz/odd"]) == (
        500,
        "internal server error: the check raised an error: no such thing\n",
    )
