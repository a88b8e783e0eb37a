"""Compares our answers with the recorded ones, and counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import attrs

from tests.kit.internals.testing import RecordedCase, difference
from tests.upstream.families import family_of, play
from tests.upstream.listed import as_on_a_cluster, reason_of

__all__ = ["Counts", "Outcome", "counted", "outcomes"]


@attrs.frozen
class Outcome:
    """What became of one recorded call.

    Attributes:
        family: The file of its case and upstream's package.
        call: Upstream's name of the call.
        where: The case, and the number of the call in it.
        reason: Why it is not played, or may differ; else empty.
        problem: What differs, or empty.
        is_played: Whether there is an answer.
    """

    family: str
    call: str
    where: str
    reason: str = ""
    problem: str = ""
    is_played: bool = True

    @property
    def word(self) -> str:
        """``equal``, ``listed``, ``differs`` or ``not played``."""
        if not self.is_played:
            return "not played"
        if not self.problem:
            return "equal"
        return "listed" if self.reason else "differs"


@attrs.define
class Counts:
    """The outcomes of a family's calls."""

    cases: int = 0
    calls: Counter[str] = attrs.field(factory=Counter)
    reasons: Counter[str] = attrs.field(factory=Counter)


def outcomes(case: RecordedCase) -> Iterator[Outcome]:
    """Play a case and yield the outcome of each call."""
    family = family_of(case)
    for number, played in enumerate(play(case)):
        call = case.calls[number]
        where = f"{case.name}: call {number}, {call['call']}"
        if isinstance(played, str):
            yield Outcome(family, call["call"], where, played, is_played=False)
            continue
        problem = difference(as_on_a_cluster(case.answers[number]), played)
        reason = reason_of(case, call) if problem else ""
        yield Outcome(family, call["call"], where, reason, problem)


def counted(cases: Iterable[RecordedCase]) -> dict[str, Counts]:
    """Return family -> what became of its calls."""
    families: defaultdict[str, Counts] = defaultdict(Counts)
    for case in cases:
        counts = families[family_of(case)]
        counts.cases += 1
        for outcome in outcomes(case):
            counts.calls[outcome.word] += 1
            if outcome.reason:
                counts.reasons[outcome.reason] += 1
    return dict(families)
