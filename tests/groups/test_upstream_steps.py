"""Upstream's integration tests of groups pass, step by step."""

from collections.abc import Iterable
from typing import Final

import pytest

from tests.groups.cases import DATA, Tree, read_cases
from tests.groups.upstream_steps import failed_checks

CASES: Final = list(read_cases(DATA / "upstream-steps.jsonl.gz"))
BY_HAND: Final = "TestPodGroupRequeueRemainingOnSchedulingSuccess-03"


def failures(cases: Iterable[Tree]) -> list[str]:
    return [text for case in cases for text in failed_checks(case)]


def test_group_whose_rest_is_requeued_goes_on_before_other_pods() -> None:
    assert failures(case for case in CASES if case["id"] == BY_HAND) == []


@pytest.mark.long
def test_integration_tests_of_upstream_pass() -> None:
    assert len(CASES) == 90
    assert failures(CASES) == []
