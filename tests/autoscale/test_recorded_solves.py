"""Pods get the nodes that the real Karpenter gives them."""

from typing import Final

import pytest

from tests.autoscale.cases import DATA, Tree, family_of, read_cases
from tests.autoscale.conformance import differences

FAMILIES: Final = ("solve-empty", "solve-empty-plain", "solve-more", "solve-more-plain")


def cases_of(family: str) -> list[Tree]:
    lines = read_cases(DATA / "karpenter-solve.jsonl.gz")
    return [line for line in lines if family_of(line) == family]


def unlike(lines: list[Tree]) -> list[str]:
    return [text for line in lines for text in differences(line)]


def test_a_case_has_the_claims_of_the_real_karpenter() -> None:
    first = next(read_cases(DATA / "karpenter-solve.jsonl.gz"))
    assert unlike([first]) == []


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_cases_have_the_claims_of_the_real_karpenter(family: str) -> None:
    assert unlike(cases_of(family)) == []
