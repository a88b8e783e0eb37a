"""Compares a decision of a record with ours on the same state."""

from typing import Final

from quaymaster._studies.recording.compared import Agreement, ComparedDecision, Decided
from quaymaster._studies.recording.judge import Verdict
from quaymaster._studies.recording.survey import Outcome

__all__ = ["AGREED", "compared_with", "theirs_of"]

AGREED: Final = frozenset({Agreement.SAME, Agreement.TIE})
"""The agreements in which ours decides the same on the recorded state."""


def theirs_of(outcome: Outcome) -> Decided:
    """Return the decision of the recorded scheduler."""
    return Decided(
        node=outcome.node,
        message=outcome.message,
        nominated_node=outcome.nominated_node,
        victims=tuple(sorted(outcome.victims)),
    )


def compared_with(outcome: Outcome, verdict: Verdict) -> ComparedDecision:
    """Compare a decision of a record with ours.

    Args:
        outcome: The recorded decision.
        verdict: Our decision.
    """
    theirs = theirs_of(outcome)
    return ComparedDecision(
        pod=outcome.pod,
        scheduler=outcome.scheduler,
        at=outcome.at,
        agreement=_agreement(theirs, verdict),
        theirs=theirs,
        ours=verdict.decided,
        best=verdict.best,
    )


def _agreement(theirs: Decided, verdict: Verdict) -> Agreement:
    ours = verdict.decided
    if theirs.node or ours.node:
        if theirs.node != ours.node:
            return Agreement.DIFFERS
        return Agreement.TIE if verdict.best > 1 else Agreement.SAME
    if theirs.nominated_node != ours.nominated_node:
        return Agreement.DIFFERS
    if theirs.victims and ours.victims and theirs.victims != ours.victims:
        return Agreement.DIFFERS
    if verdict.best > 1:
        return Agreement.TIE
    return Agreement.SAME if theirs.message == ours.message else Agreement.REASONS
