"""The real Karpenter agrees on volumes, overlays, reservations and unready pools."""

from typing import Final

import pytest

from tests.autoscale.cases import DATA, Tree, family_of, read_cases
from tests.autoscale.conformance import differences

FAMILIES: Final = (
    "solve-volumes",
    "solve-overlays",
    "solve-reservations",
    "consolidate-volumes",
    "consolidate-overlays",
    "consolidate-reservations",
    "consolidate-unready-pools",
    "consolidate-balanced",
)


def cases_of(family: str) -> list[Tree]:
    lines = read_cases(DATA / "karpenter-wide.jsonl.gz")
    return [line for line in lines if family_of(line) == family]


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_have_the_answers_of_the_real_karpenter(family: str) -> None:
    cases = cases_of(family)
    assert cases
    assert [text for line in cases for text in differences(line)] == []
