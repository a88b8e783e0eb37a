"""We answer requests about groups, and schedule them, as real servers did."""

import gzip
import json
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.front import run
from tests.groups.cases import DATA, Tree, read_cases, recordings
from tests.groups.conformance import GROUPS, differences
from tests.groups.listed import NOT_CHECKED

FAMILIES: Final = [
    file.name.partition(".")[0] for file in recordings() if file.stem != "api.jsonl"
]
CASES: Final = [
    case for case in read_cases(DATA / "api.jsonl.gz") if case["id"] not in NOT_CHECKED
]
FEW: Final = CASES[::6]


def cases_of(family: str) -> list[Tree]:
    stored = read_cases(DATA / f"{family}.jsonl.gz")
    return [case for case in stored if case["id"] not in NOT_CHECKED]


def unlike(cases: list[Tree]) -> list[str]:
    return [text for case in cases for text in differences(case)]


def test_some_requests_are_answered_as_by_a_real_server() -> None:
    assert unlike(FEW) == []


@pytest.mark.long
def test_requests_are_answered_as_by_a_real_server() -> None:
    assert unlike(CASES) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_case_is_scheduled_as_by_a_real_scheduler(family: str) -> None:
    shortest = min(cases_of(family), key=lambda case: len(json.dumps(case)))
    assert unlike([shortest]) == []


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_cases_are_scheduled_as_by_a_real_scheduler(family: str) -> None:
    assert unlike(cases_of(family)) == []


@pytest.mark.long
def test_listed_cases_differ() -> None:
    stored = (case for file in recordings() for case in read_cases(file))
    listed = [case for case in stored if case["id"] in NOT_CHECKED]
    assert len(listed) == len(NOT_CHECKED)
    assert [case["id"] for case in listed if not list(differences(case))] == []


def test_emit_prints_one_line_a_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.jsonl.gz"
    lines = [json.dumps(case) for case in CASES[:2]]
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert run(GROUPS, ["emit", str(file)]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["id"] for answer in answers] == [case["id"] for case in CASES[:2]]
    assert answers[0]["answers"][0]["code"] in (201, 400, 403, 404, 422)
