"""Finds where the states of our course differ from the recorded ones.

Each part of the state is compared by itself: as the sequence of its different values,
without times.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from tests.world.cases import Tree

__all__ = ["course_differences"]

_PARTS: Final = (
    "pods",
    "sets",
    "jobs",
    "budgets",
    "claims",
    "volumes",
    "nodes",
    "quotas",
    "devices",
)
_EXTRA_STATES: Final = 3
"""How many more states than the recording we may have where it left some out."""


def course_differences(case: Tree, answer: Tree) -> Iterator[str]:
    """The first difference of each part."""
    for part in _PARTS:
        is_recorded = any(part in state for state in case["course"])
        if part not in case.get("skip", ()) and is_recorded:
            expected, actual = (
                _values(record["course"], part) for record in (case, answer)
            )
            compare = _first_missing if case.get("loose") else _first_difference
            yield from (f"{part}{text}" for text in compare(expected, actual))
    if "answers" not in case.get("skip", ()):
        expected, actual = (_answers(record) for record in (case, answer))
        yield from (f"answers{text}" for text in _first_difference(expected, actual))


def _answers(record: Tree) -> list[object]:
    answers = record.get("answers", ())
    return [
        [answer["at"], answer.get("do", "create"), answer["code"]] for answer in answers
    ]


def _values(states: Sequence[Tree], part: str) -> list[object]:
    values: list[object] = []
    for state in states:
        value = state.get(part, {})
        if not values or value != values[-1]:
            values.append(value)
    return values


def _first_difference(expected: list[object], actual: list[object]) -> Iterator[str]:
    for index in range(max(len(expected), len(actual))):
        pair = [
            values[index] if index < len(values) else None
            for values in (expected, actual)
        ]
        if pair[0] != pair[1]:
            before = expected[index - 1] if index else None
            yield (
                f"[{index}]: after {json.dumps(before)} expected "
                f"{json.dumps(pair[0])} got {json.dumps(pair[1])}"
            )
            return


def _first_missing(expected: list[object], actual: list[object]) -> Iterator[str]:
    """Compare with a recording that lacks one or two passing states."""
    index = 0
    for value in actual:
        if index < len(expected) and value == expected[index]:
            index += 1
    if index < len(expected):
        yield f"[{index}]: lacks {json.dumps(expected[index])}"
    elif len(actual) - len(expected) > _EXTRA_STATES:
        yield f": {len(actual)} states, expected at most {len(expected)} and three"
