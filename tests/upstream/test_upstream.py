"""Kubernetes' own unit tests pass, but for what is listed with its reason."""

from collections.abc import Iterable

import pytest

from tests.kit.internals.testing import RecordedCase, read_cases
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
@pytest.mark.parametrize("file", PLAYED)
def test_calls_of_upstreams_tests_have_its_answers(file: str) -> None:
    assert differences(read_cases(DATA / f"{file}.jsonl.gz")) == []
