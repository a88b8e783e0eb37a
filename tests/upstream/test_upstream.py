"""Kubernetes' own unit tests pass, but for what is listed with its reason."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.conformance.front import run
from tests.docs.conformance import (
    CONFORMANCE,
    conformance_page,
    counts_of_families,
)
from tests.kit.internals.testing import RecordedCase, difference, read_cases
from tests.upstream.conformance import UPSTREAM
from tests.upstream.families import DATA, PLAYED
from tests.upstream.judge import outcomes

QUICK = 12
"""How many cases of each file a quick run plays."""


def differences(cases: Iterable[RecordedCase]) -> list[str]:
    return [
        outcome.text
        for case in cases
        for outcome in outcomes(case)
        if outcome.word == "differs"
    ]


@pytest.mark.parametrize("file", PLAYED)
def test_some_calls_of_upstreams_tests_have_its_answers(file: str) -> None:
    cases = list(read_cases(DATA / f"{file}.jsonl.gz"))
    assert differences(cases[:: len(cases) // QUICK]) == []


@pytest.mark.long
def test_calls_of_upstreams_tests_have_its_answers_and_the_page_counts_them() -> None:
    """Run ``python -m tests.docs.reference`` if only the page differs."""
    counts = counts_of_families()
    assert [each for family in counts.values() for each in family.differences] == []
    assert CONFORMANCE.read_text(encoding="utf-8") == conformance_page()


def test_answers_are_emitted_for_cases_without_recorded_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = list(read_cases(DATA / "cache.jsonl.gz"))[:3]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps({"case": case.tree}) + "\n" for case in cases))
    assert run(UPSTREAM, ["emit", str(path)]) == 0
    emitted = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answers["id"] for answers in emitted] == [case.name for case in cases]
    for case, line in zip(cases, emitted, strict=True):
        for recorded, answer in zip(case.answers, line["answers"], strict=True):
            assert answer is None or not difference(recorded, answer)
    assert any(any(line["answers"]) for line in emitted)
