"""The real Karpenter agrees on volumes, overlays, reservations and unready pools."""

from typing import Final

import pytest

from tests.autoscale.cases import DATA, Tree, family_of, read_cases
from tests.autoscale.conformance import answer_to, differences

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


def approvals(answer: Tree) -> set[tuple[str, str, str]]:
    """Return the events of pools that approve a command: method, pool and text."""
    return {
        (method["method"], event["name"], event["message"])
        for method in answer["methods"]
        for event in method["events"]
        if event["reason"] == "ConsolidationApproved" and event["kind"] == "NodePool"
    }


def test_pools_that_approve_a_rejected_command_are_reported() -> None:
    [line] = cases_of("consolidate-balanced")
    [theirs], [ours] = line["answer"]["answers"], answer_to(line)["answers"]
    assert approvals(theirs)
    assert approvals(ours) == approvals(theirs)
