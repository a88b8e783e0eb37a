"""Health checks: the texts are those that a kube-scheduler v1.36.2 answered."""

import logging

import pytest

from tests.kit.internals.operation import PING, Check, Page, Query, health_pages

LEADING = Check("leaderElection", lambda: "")
SYNCED = Check("sched-handler-sync", lambda: "")
BROKEN = Check("informer-sync", lambda: "Pod has not been listed")


def get(page: Page, query: Query | None = None) -> tuple[int, str]:
    reply = page(query or {})
    return reply.status, reply.body.decode()


def test_all_is_well() -> None:
    page = health_pages("/readyz", [LEADING, SYNCED])["/readyz"]
    assert get(page) == (200, "ok")


def test_verbose_page_lists_all_checks() -> None:
    page = health_pages("/readyz", [LEADING, SYNCED])["/readyz"]
    assert get(page, {"verbose": [""]}) == (
        200,
        "[+]leaderElection ok\n[+]sched-handler-sync ok\nreadyz check passed\n",
    )


def test_failure_lists_all_checks_without_the_reason() -> None:
    page = health_pages("/readyz", [LEADING, BROKEN])["/readyz"]
    assert get(page) == (
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


def test_excluded_check_is_not_run() -> None:
    page = health_pages("/readyz", [LEADING, BROKEN])["/readyz"]
    assert get(page, {"exclude": ["informer-sync"], "verbose": [""]}) == (
        200,
        "[+]leaderElection ok\n[+]informer-sync excluded: ok\nreadyz check passed\n",
    )


def test_unknown_exclusions_get_a_warning() -> None:
    page = health_pages("/readyz", [LEADING])["/readyz"]
    assert get(page, {"exclude": ["b", "a"], "verbose": [""]}) == (
        200,
        (
            "[+]leaderElection ok\n"
            'warn: some health checks cannot be excluded: no matches for "a","b"\n'
            "readyz check passed\n"
        ),
    )


def test_path_without_checks_answers_a_ping() -> None:
    pages = health_pages("/livez", [])
    assert get(pages["/livez"], {"verbose": [""]}) == (
        200,
        "[+]ping ok\nlivez check passed\n",
    )
    assert get(pages["/livez/ping"]) == (200, "ok")


def test_page_of_a_single_check_shows_the_reason() -> None:
    pages = health_pages("/readyz", [PING, BROKEN])
    assert sorted(pages) == ["/readyz", "/readyz/informer-sync", "/readyz/ping"]
    assert get(pages["/readyz/informer-sync"]) == (
        500,
        "internal server error: Pod has not been listed\n",
    )


def test_check_that_breaks_is_a_failure() -> None:
    def broken() -> str:
        raise ValueError("no such thing")

    pages = health_pages("/readyz", [Check("odd", broken)])
    assert get(pages["/readyz/odd"]) == (
        500,
        "internal server error: the check raised an error: no such thing\n",
    )
