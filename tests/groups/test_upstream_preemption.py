"""Upstream's integration tests of preemption by and of groups pass."""

from typing import Final

import pytest

from tests.groups.cases import DATA, read_cases
from tests.groups.upstream_preemption import failed_expectations, is_played

CASES: Final = [
    case
    for case in read_cases(DATA / "upstream-preemption.jsonl.gz")
    if is_played(case)
]
FIRST_OF_TREES: Final = "TestCompositePodGroupPreemption-03"


def test_tree_preempts_as_upstreams_test_expects() -> None:
    [case] = [case for case in CASES if case["id"] == FIRST_OF_TREES]
    assert list(failed_expectations(case)) == []


@pytest.mark.long
def test_preemption_tests_of_upstream_pass() -> None:
    assert len(CASES) == 33
    assert [text for case in CASES for text in failed_expectations(case)] == []
