"""Groups of nodes grow and shrink as with the real cluster autoscaler."""

import json
from typing import Final

import pytest

from tests.autoscale.call_player import CALLS
from tests.autoscale.cases import DATA, Tree, family_of, read_cases, recordings
from tests.autoscale.conformance import answer_to, differences
from tests.autoscale.listed import EVENTS_NOT_CHECKED, NOT_CHECKED, why_not_played
from tests.autoscale.loop_differences import loop_differences

FAMILIES: Final = ("balance", "down", "down-drain", "life", "up", "up-limits")
WIDE_FAMILIES: Final = (
    "budgets",
    "node-limits",
    "other-flags",
    "owners",
    "priorities",
    "startup-taints",
)


def cases_of(file: str, family: str) -> list[Tree]:
    return [
        line
        for line in read_cases(DATA / file)
        if family_of(line) == family
        and not line["case"].get("chance")
        and line["case"]["id"] not in NOT_CHECKED
    ]


def loops_of(family: str) -> list[Tree]:
    return cases_of("ca-loops.jsonl.gz", family)


def calls_of(name: str) -> list[Tree]:
    lines = cases_of("ca-calls.jsonl.gz", name)
    return [line for line in lines if not why_not_played(line["case"])]


def unlike(lines: list[Tree]) -> list[str]:
    return [text for line in lines for text in differences(line)]


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_a_case_has_the_loops_of_the_real_autoscaler(family: str) -> None:
    shortest = min(loops_of(family), key=lambda line: len(json.dumps(line)))
    assert unlike([shortest]) == []


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_cases_have_the_loops_of_the_real_autoscaler(family: str) -> None:
    assert unlike(loops_of(family)) == []


@pytest.mark.long
@pytest.mark.parametrize("family", WIDE_FAMILIES)
def test_wide_cases_have_the_loops_of_the_real_autoscaler(family: str) -> None:
    lines = cases_of("ca-wide-loops.jsonl.gz", family)
    assert lines
    assert unlike(lines) == []


@pytest.mark.long
@pytest.mark.parametrize("name", CALLS)
def test_functions_return_what_the_real_ones_do(name: str) -> None:
    assert unlike(calls_of(name)[::8]) == []


@pytest.mark.long
@pytest.mark.parametrize("name", CALLS)
def test_all_calls_return_what_the_real_ones_do(name: str) -> None:
    assert unlike(calls_of(name)) == []


@pytest.mark.long
def test_listed_cases_differ() -> None:
    stored = [line for file in recordings() for line in read_cases(file)]
    listed = [line for line in stored if line["case"]["id"] in NOT_CHECKED]
    assert len(listed) == len(NOT_CHECKED)
    assert [line for line in listed if not list(differences(line))] == []


@pytest.mark.long
def test_listed_events_differ() -> None:
    lines = {
        line["case"]["id"]: line for line in read_cases(DATA / "ca-loops.jsonl.gz")
    }
    for name in EVENTS_NOT_CHECKED:
        theirs = lines[name]["answer"]["loops"]
        ours = answer_to(lines[name])["loops"]
        pairs = zip(theirs, ours, strict=True)
        assert [text for pair in pairs for text in loop_differences(*pair)], name
