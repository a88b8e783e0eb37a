"""Groups of nodes grow and shrink as with the real cluster autoscaler."""

import json
from typing import Final

import pytest

from tests.autoscale.cases import DATA, Tree, family_of, read_cases
from tests.autoscale.conformance import differences
from tests.autoscale.listed import NOT_CHECKED

FAMILIES: Final = ("balance", "down", "down-drain", "life", "up", "up-limits")


def cases_of(family: str) -> list[Tree]:
    return [
        line
        for line in read_cases(DATA / "ca-loops.jsonl.gz")
        if family_of(line) == family
        and not line["case"].get("chance")
        and line["case"]["id"] not in NOT_CHECKED
    ]


def unlike(lines: list[Tree]) -> list[str]:
    return [text for line in lines for text in differences(line)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_case_has_the_loops_of_the_real_autoscaler(family: str) -> None:
    shortest = min(cases_of(family), key=lambda line: len(json.dumps(line)))
    assert unlike([shortest]) == []


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_cases_have_the_loops_of_the_real_autoscaler(family: str) -> None:
    assert unlike(cases_of(family)) == []


@pytest.mark.long
def test_listed_cases_differ() -> None:
    stored = read_cases(DATA / "ca-loops.jsonl.gz")
    listed = [line for line in stored if line["case"]["id"] in NOT_CHECKED]
    assert len(listed) == len(NOT_CHECKED)
    assert [line for line in listed if not list(differences(line))] == []
