"""Compares our answers with the recorded ones, and counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import attrs

from tests.conformance.recorded_set import Outcome
from tests.kit.internals.testing import RecordedCase, difference
from tests.upstream.families import family_of, play
from tests.upstream.listed import as_on_a_cluster, reason_of

__all__ = ["Counts", "counted", "outcomes"]


@attrs.define
class Counts:
    """The outcomes of a family's calls.

    Attributes:
        cases: The number of cases.
        calls: What became of a call -> the number of calls.
        reasons: Why a call differs or is not played -> the number of calls.
        differences: What differs without being listed.
    """

    cases: int = 0
    calls: Counter[str] = attrs.field(factory=Counter)
    reasons: Counter[str] = attrs.field(factory=Counter)
    differences: list[str] = attrs.field(factory=list)


def outcomes(case: RecordedCase) -> Iterator[Outcome]:
    """Play a case and yield the outcome of each call."""
    for number, played in enumerate(play(case)):
        call = case.calls[number]
        where = f"{case.name}: call {number}, {call['call']}"
        if isinstance(played, str):
            yield Outcome("not played", reason=played)
            continue
        problem = difference(as_on_a_cluster(case.answers[number], call), played)
        reason = reason_of(case, call) if problem else ""
        yield Outcome.of(problem and f"{where}: {problem}", reason)


def counted(cases: Iterable[RecordedCase]) -> dict[str, Counts]:
    """Return family -> what became of its calls."""
    families: defaultdict[str, Counts] = defaultdict(Counts)
    for case in cases:
        counts = families[family_of(case)]
        counts.cases += 1
        for outcome in outcomes(case):
            counts.calls[outcome.word] += 1
            if outcome.word == "differs":
                counts.differences.append(outcome.text)
            if outcome.reason:
                counts.reasons[outcome.reason] += 1
    return dict(families)
