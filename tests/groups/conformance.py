"""The recordings of groups as a recorded set."""

import json
from collections.abc import Iterator
from typing import Final

from tests.conformance.recorded_set import Outcome, RecordedSet
from tests.groups.api_answers import api_answer
from tests.groups.cases import Tree, read_cases, recordings
from tests.groups.listed import NOT_CHECKED
from tests.groups.player import steps_of
from tests.groups.step_differences import step_differences

__all__ = ["GROUPS", "differences"]


def answer_to(case: Tree) -> Tree:
    """Return our answer to a case, in the form of the recordings."""
    if case["family"] == "api":
        return api_answer(case)
    return {"id": case["id"], "steps": list(steps_of(case))}


def differences(case: Tree) -> Iterator[str]:
    """Yield the requests or the steps of a case that we answer differently."""
    answer = answer_to(case)
    if case["family"] != "api":
        steps = enumerate(zip(case["steps"], answer["steps"], strict=True))
        for number, (theirs, ours) in steps:
            for text in step_differences(theirs, ours):
                yield f"{case['id']}: step {number}: {text}"
        return
    answers = answer["answers"]
    for number, (theirs, ours) in enumerate(zip(case["answers"], answers, strict=True)):
        if theirs != ours:
            texts = f"upstream {json.dumps(theirs)} here {json.dumps(ours)}"
            yield f"{case['id']}: request {number}: {texts}"


def _outcomes(case: Tree) -> Iterator[Outcome]:
    texts = "\n".join(differences(case))
    yield Outcome.of(texts, NOT_CHECKED.get(case["id"], ""))


def _stored(_version: str) -> Iterator[Tree]:
    for file in recordings():
        yield from read_cases(file)


GROUPS: Final = RecordedSet(
    name="groups",
    read=lambda path, _version: read_cases(path),
    stored=_stored,
    versions=("1.37",),
    family_of=lambda case: str(case["family"]),
    answer=answer_to,
    outcomes=_outcomes,
)
