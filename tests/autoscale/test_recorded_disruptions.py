"""The real Karpenter would disrupt the same nodes."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.autoscale.cases import DATA, Tree, family_of, read_cases
from tests.autoscale.conformance import differences
from tests.autoscale.listed import NOT_CHECKED

FAMILIES: Final = ("consolidate", "consolidate-plain")


def cases() -> Iterator[Tree]:
    lines = read_cases(DATA / "karpenter-consolidate.jsonl.gz")
    return (line for line in lines if line["case"]["id"] not in NOT_CHECKED)


def unlike(lines: list[Tree]) -> list[str]:
    return [text for line in lines for text in differences(line)]


def test_a_case_has_the_commands_of_the_real_karpenter() -> None:
    assert unlike([next(cases())]) == []


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_cases_have_the_commands_of_the_real_karpenter(family: str) -> None:
    assert unlike([line for line in cases() if family_of(line) == family]) == []
