"""The recordings of autoscalers as a recorded set."""

from collections.abc import Iterator
from typing import Final

from tests.autoscale.cases import Tree, family_of, read_cases, recordings
from tests.autoscale.listed import CHANCE, NOT_CHECKED
from tests.autoscale.loop_differences import loop_differences
from tests.autoscale.loop_player import answer_to_loops
from tests.conformance.recorded_set import Outcome, RecordedSet

__all__ = ["AUTOSCALE", "differences"]


def answer_to(line: Tree) -> Tree:
    """Return our answer to a case, in the form of the recordings."""
    return answer_to_loops(line["case"], line["answer"])


def differences(line: Tree) -> Iterator[str]:
    """Yield the loops of a case that we answer differently."""
    recorded, answer = line["answer"]["loops"], answer_to(line)["loops"]
    for number, (theirs, ours) in enumerate(zip(recorded, answer, strict=True)):
        for text in loop_differences(theirs, ours):
            yield f"{line['case']['id']}: loop {number}: {text}"


def _outcomes(line: Tree) -> Iterator[Outcome]:
    case = line["case"]
    reason = CHANCE if case.get("chance") else NOT_CHECKED.get(case["id"], "")
    yield Outcome.of("\n".join(differences(line)), reason)


def _stored(_version: str) -> Iterator[Tree]:
    for file in recordings():
        yield from read_cases(file)


AUTOSCALE: Final = RecordedSet(
    name="autoscale",
    read=lambda path, _version: read_cases(path),
    stored=_stored,
    versions=("1.37",),
    family_of=family_of,
    answer=answer_to,
    outcomes=_outcomes,
)
