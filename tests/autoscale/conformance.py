"""The recordings of autoscalers as a recorded set."""

import json
from collections.abc import Iterator
from typing import Final

from tests.autoscale.call_player import answer_to_call
from tests.autoscale.cases import Tree, family_of, read_cases, recordings
from tests.autoscale.consolidation_differences import consolidation_differences
from tests.autoscale.consolidation_player import answer_to_consolidation
from tests.autoscale.listed import (
    CHANCE,
    DRAWN,
    EVENTS_NOT_CHECKED,
    NOT_CHECKED,
    why_not_played,
)
from tests.autoscale.live_player import answer_to_live
from tests.autoscale.loop_differences import loop_differences
from tests.autoscale.loop_player import answer_to_loops
from tests.autoscale.scale_up_player import comparable_scale_up
from tests.autoscale.solve_differences import solve_differences
from tests.autoscale.solve_player import answer_to_solve
from tests.conformance.recorded_set import Outcome, RecordedSet

__all__ = ["AUTOSCALE", "answer_to", "differences"]

_UNORDERED: Final = "equivalence.BuildPodGroups"
"""Its result has the order of a Go map."""


def answer_to(line: Tree) -> Tree:
    """Return our answer to a case, in the form of the recordings."""
    case = line["case"]
    if "call" in case:
        return answer_to_call(case, line.get("answer"))
    if case.get("ask") == "solve":
        return answer_to_solve(case, DRAWN.get(case["id"]))
    if case.get("ask") == "consolidate":
        return answer_to_consolidation(case)
    if case.get("family") == "live":
        return answer_to_live(case)
    return answer_to_loops(case, line["answer"])


def differences(line: Tree) -> Iterator[str]:
    """Yield the loops or claims of a case, or the call, that we answer differently."""
    case, recorded, answer = line["case"], line["answer"], answer_to(line)
    if "call" in case:
        theirs, ours = _comparable(case, recorded), _comparable(case, answer)
        if theirs != ours:
            yield f"{case['id']} {case['call']}: upstream {theirs} here {ours}"
        return
    if case.get("ask") == "solve":
        [ours] = answer["answers"]
        for text in solve_differences(recorded["answers"], ours):
            yield f"{case['id']}: {text}"
        return
    if case.get("ask") == "consolidate":
        [ours] = answer["answers"]
        for text in consolidation_differences(recorded["answers"], ours):
            yield f"{case['id']}: {text}"
        return
    loops = zip(recorded["loops"], answer["loops"], strict=True)
    for number, (theirs, ours) in enumerate(loops):
        for text in loop_differences(theirs, ours):
            if text.startswith("events:") and case["id"] in EVENTS_NOT_CHECKED:
                continue
            yield f"{case['id']}: loop {number}: {text}"


def _comparable(case: Tree, answer: Tree) -> object:
    out = answer["out"]
    if case["call"] == _UNORDERED:
        return sorted(json.dumps(group, sort_keys=True) for group in out[0] or ())
    if case["call"] == "orchestrator.ScaleUp":
        return comparable_scale_up(out)
    return out


def _outcomes(line: Tree) -> Iterator[Outcome]:
    case = line["case"]
    reason = why_not_played(case) if "call" in case else ""
    if reason:
        yield Outcome("not played", reason=reason)
        return
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
