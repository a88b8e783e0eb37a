"""For every trace of upstream's queue, ours has the same state after every step."""

import json
import logging

import pytest

from tests.conformance.front import run
from tests.queue.cases import DATA, FAMILIES, read_cases, read_family
from tests.queue.conformance import QUEUE
from tests.queue.differences import first_difference

_FIRST = 12
"""The number of traces of a family in every run."""


def test_there_are_nine_families() -> None:
    assert len(FAMILIES) == 9


@pytest.mark.parametrize("version", ["1.36", "1.37"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "part",
    [
        pytest.param(slice(0, _FIRST), id="first"),
        pytest.param(slice(_FIRST, None), id="rest", marks=pytest.mark.long),
    ],
)
def test_queue_does_what_upstream_does(
    family: str, version: str, part: slice, caplog: pytest.LogCaptureFixture
) -> None:
    # Hints that fail are part of the traces, and are logged.
    caplog.set_level(logging.CRITICAL + 1, logger="quaymaster")
    cases = list(read_family(family, version))
    assert len(cases) == 60
    differences = [
        first_difference(case) for case in cases[part] if not case.has_two_queues
    ]
    assert [text for text in differences if text] == []


@pytest.mark.long
def test_only_the_newer_upstream_has_pods_in_two_queues() -> None:
    counts = {
        version: sum(
            case.has_two_queues
            for family in FAMILIES
            for case in read_family(family, version)
        )
        for version in ("1.36", "1.37")
    }
    assert counts == {"1.36": 0, "1.37": 18}


@pytest.mark.long
def test_emit_prints_one_record_per_trace(capsys: pytest.CaptureFixture[str]) -> None:
    file = DATA / "timeouts.jsonl.gz"
    assert run(QUEUE, ["emit", str(file)]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["id"] for record in records] == [
        case.case_id for case in read_cases(file)
    ]
    assert records[0]["results"][0]["t"] > 0


@pytest.mark.long
def test_check_says_where_another_version_differs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = str(DATA / "pending.jsonl.gz")
    assert run(QUEUE, ["check", file]) == 0
    assert capsys.readouterr().out == "cases: 60 equal\n"
    assert run(QUEUE, ["check", file, "--kubernetes", "1.37"]) == 1
    assert "cases: 60 differs\n" in capsys.readouterr().out
