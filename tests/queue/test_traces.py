"""Every trace of upstream's queue, played on ours: the same state after every step."""

import json
import logging
from pathlib import Path

import pytest

from tests.queue.__main__ import main
from tests.queue.cases import DATA, Case, read_cases
from tests.queue.player import play
from tests.queue.view import compared

FAMILIES = sorted(DATA.glob("*.jsonl.gz"))


def _first_difference(case: Case) -> str | None:
    steps = zip(case.operations, case.expected, play(case), strict=True)
    for number, (operation, expected, got) in enumerate(steps):
        wanted, found = compared(dict(expected)), compared(got)
        for field in sorted(wanted.keys() | found.keys()):
            if wanted.get(field) != found.get(field):
                return (
                    f"{case.case_id}, step {number} ({operation['op']}), {field}:\n"
                    f"  upstream {wanted.get(field)}\n  ours     {found.get(field)}"
                )
    return None


def test_there_are_nine_families() -> None:
    assert len(FAMILIES) == 9


@pytest.mark.parametrize("file", FAMILIES, ids=lambda file: file.name.split(".")[0])
def test_queue_does_what_upstream_does(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # Hints that fail are part of the traces, and are logged.
    caplog.set_level(logging.CRITICAL + 1, logger="quaymaster")
    differences = [_first_difference(case) for case in read_cases(file)]
    assert len(differences) == 60
    assert [text for text in differences if text] == []


def test_emit_prints_one_record_per_trace(capsys: pytest.CaptureFixture[str]) -> None:
    file = DATA / "timeouts.jsonl.gz"
    assert main(["emit", str(file)]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["id"] for record in records] == [
        case.case_id for case in read_cases(file)
    ]
    assert records[0]["results"][0]["t"] > 0
