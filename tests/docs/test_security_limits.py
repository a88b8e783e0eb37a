"""SECURITY.md states the limits that the code has."""

from pathlib import Path
from typing import Final

import pytest

from quaymaster.service import ServiceLimits
from tests.kit.internals.extender_server import ServerOptions
from tests.kit.internals.operation import ServingOptions
from tests.kit.internals.serving import (
    MOST_HEAD_BYTES,
    MOST_HEAD_FIELDS,
    ConnectionLimits,
)

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
EXTENDER: Final = ServerOptions(connections=1)
CLIENTS: Final = ConnectionLimits(connections=1)
PAGES: Final = ServingOptions(connections=1)
SERVE: Final = ServiceLimits()


def row(begin: str) -> str:
    """Return the limit of the table's row that begins so."""
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {begin} |"))
    return line.split("|")[2].strip()


@pytest.mark.parametrize(
    ("begin", "limit"),
    [
        (
            "the head of a request",
            f"{MOST_HEAD_BYTES >> 10} KiB, {MOST_HEAD_FIELDS} fields",
        ),
        (
            "the body of a request",
            (
                f"{EXTENDER.max_request_bytes >> 20} MiB for `extender`, "
                f"{SERVE.body_bytes >> 20} MiB for `serve`"
            ),
        ),
        ("time until a request has arrived", f"{EXTENDER.read_seconds:g} s"),
        (
            "requests at once",
            (
                f"{EXTENDER.answers} for `extender` and for each worker of `serve`, "
                f"{PAGES.answers} for `ui`"
            ),
        ),
        (
            "requests that a client sends before it reads a response",
            f"{CLIENTS.pipelined} for `serve`",
        ),
        (
            "a response that its client does not read",
            (
                f"the connection is closed after {CLIENTS.unread_seconds:g} s; "
                f"at most {CLIENTS.unread_responses} such"
            ),
        ),
    ],
)
def test_page_has_the_limit(begin: str, limit: str) -> None:
    assert row(begin).startswith(limit)


def test_servers_wait_equally_long() -> None:
    seconds = {EXTENDER.read_seconds, PAGES.read_seconds, CLIENTS.head_seconds}
    assert seconds == {30.0}


def test_service_answers_as_many_requests_as_the_extender() -> None:
    assert SERVE.requests == EXTENDER.answers
