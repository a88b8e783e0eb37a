"""Log lines as JSON."""

import json
import logging
import sys
from typing import Any

import click
import pytest

from tests.kit.internals.cli import logging_to_stderr
from tests.kit.internals.operation import (
    JsonFormatter,
    TextFormatter,
    without_secrets,
)


def line(message: str, *args: object, **extra: object) -> dict[str, Any]:
    record = logging.makeLogRecord(
        {
            "name": "quaymaster.x",
            "levelno": logging.WARNING,
            "levelname": "WARNING",
            "msg": message,
            "args": args,
            "created": 1700000000.25,
            **extra,
        }
    )
    text = JsonFormatter().format(record)
    assert "\n" not in text
    found: dict[str, Any] = json.loads(text)
    return found


def test_line_has_time_level_logger_and_message() -> None:
    assert line("pod %s\nfailed", "default/a") == {
        "ts": 1700000000.25,
        "level": "warning",
        "logger": "quaymaster.x",
        "msg": "pod default/a\nfailed",
    }


def test_fields_of_a_message_are_fields_of_the_line() -> None:
    found = line("late", pod="default/a", plugin="P", seconds=2.5)
    assert (found["pod"], found["plugin"], found["seconds"]) == ("default/a", "P", 2.5)


def test_fields_do_not_replace_those_of_the_line() -> None:
    assert line("late", ts=5, level="odd")["level"] == "warning"


def test_traceback_is_a_field() -> None:
    try:
        raise ValueError("Bearer abcdefgh12345")
    except ValueError:
        found = line("broke", exc_info=sys.exc_info())
    assert found["error"].startswith("Traceback")
    assert found["error"].endswith("ValueError: Bearer [redacted]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted]"),
        ("authorization: basic bWU6cGFzcw==", "authorization: basic [redacted]"),
        ("token eyJhbGci.eyJpc3Mi.c2ln_-x", "token [redacted]"),
        ("https://me:pass@host.example/x", "https://[redacted]@host.example/x"),
        ("a bearer of news", "a bearer of news"),
        ("https://host.example/x", "https://host.example/x"),
    ],
)
def test_secrets_are_not_logged(text: str, shown: str) -> None:
    assert without_secrets(text) == shown
    assert line(text)["msg"] == shown
    assert line("x", url=text)["url"] == shown


def test_error_that_ends_a_command_is_a_line_of_the_log_as_well(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended, logging_to_stderr("json"):
        raise click.ClickException("the lease was lost")
    assert ended.value.code == 1
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["msg"]) == ("error", "the lease was lost")


def test_error_that_ends_a_command_is_readable_in_a_text_log() -> None:
    with pytest.raises(click.ClickException), logging_to_stderr("text"):
        raise click.ClickException("the lease was lost")


def text_line(message: str, *args: object) -> str:
    record = logging.makeLogRecord({"msg": message, "args": args})
    return TextFormatter().format(record)


def test_control_characters_are_escaped_in_text() -> None:
    assert text_line("node %s", "a\x1b[31m\u202e") == "node a\\x1b[31m\\u202e"


def test_part_of_a_message_cannot_look_like_another_message() -> None:
    assert text_line("node %s", "a\nleader lost") == "node a\n  leader lost"


def test_long_message_is_cut() -> None:
    assert len(text_line("node %s", "a" * 1_000_000)) < 20_000
    assert len(line("node %s", "a" * 1_000_000)["msg"]) < 20_000
