"""How decisions of two schedulers compare, and what a replay comes to."""

import enum
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._base.notices import Notice
from quaymaster._core.cycle.explanation import NodeRejection, NodeScores

__all__ = ["Agreement", "ComparedDecision", "Decided", "ReplayProgress", "ReplayResult"]

ReplayProgress: TypeAlias = Callable[[int, int], None]
"""Called now and then with how many decisions have been made, of how many."""


class Agreement(enum.StrEnum):
    """How two decisions about the same pod compare."""

    SAME = "same"
    """The same node; or none, for the same reasons."""

    TIE = "tie"
    """Theirs is one of several nodes that are equally good to us."""

    ORDER = "order"
    """The same on another state than the recorded one, which the recorded scheduler
    may have decided on: it had not seen the last changes of a kind, or it had decided
    about pods of the same moment in another order than that of their bindings, where
    its queue leaves that open."""

    REASONS = "reasons"
    """No node in both, with other reasons."""

    DIFFERS = "differs"
    """Another node; or a node in one, and none in the other."""

    @property
    def meaning(self) -> str:
        """What it means, in short, for tables."""
        return _MEANINGS[self]


_MEANINGS: Final = {
    Agreement.SAME: "the same node, or none for the same reasons",
    Agreement.TIE: "theirs is one of several that are equally good to us",
    Agreement.ORDER: "the same, on another state that theirs may have met",
    Agreement.REASONS: "no node in both, for other reasons",
    Agreement.DIFFERS: "another node, or a node in only one of them",
}


@attrs.frozen(kw_only=True)
class Decided:
    """What a scheduler decided about a pod.

    Attributes:
        node: The node; empty if there was none.
        message: Why there was none.
        nominated_node: Where it may hope for room afterwards.
        victims: The keys of the pods that have to go for that, sorted.
    """

    node: str = ""
    message: str = ""
    nominated_node: str = ""
    victims: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class ComparedDecision:
    """A decision of the record, and ours on the same state.

    Attributes:
        pod: The pod's key.
        scheduler: The scheduler that it asks for.
        at: When theirs was seen, in seconds since the beginning of the record.
        agreement: How they compare.
        theirs: What the recorded scheduler decided.
        ours: What ours decided.
        best: How many nodes were equally good to ours; 0 if there was none.
        tried: On how many other states ours decided, to see whether it agrees on one.
        width: By how many changes the one on which it agrees is another than the
            recorded one; 0 if there is none, or none was needed.
        our_scores: How ours rates its own node; only where they differ.
        their_scores: How ours rates their node; only where they differ.
        rejection: Why ours leaves out their node, if it does.
    """

    pod: str
    scheduler: str
    at: float
    agreement: Agreement
    theirs: Decided
    ours: Decided
    best: int = 0
    tried: int = 0
    width: int = 0
    our_scores: NodeScores | None = attrs.field(default=None, eq=False)
    their_scores: NodeScores | None = attrs.field(default=None, eq=False)
    rejection: NodeRejection | None = attrs.field(default=None, eq=False)


@attrs.frozen(kw_only=True)
class ReplayResult:
    """What a replay came to.

    Attributes:
        decisions: Each decision of the record that could be compared, in order.
        seconds: How long the record is.
        pods: How many pods there are in it.
        others: Scheduler name -> the decisions about pods of schedulers that no profile
            has the name of; these were not compared.
        with_node: How many pods came with a node, so that nothing was decided.
        waiting: How many pods had no node in the end.
        unknown: Facts that a record lacks, and that may explain differences.
        notices: What was left out or assumed.
    """

    decisions: tuple[ComparedDecision, ...]
    seconds: float
    pods: int
    others: Mapping[str, int] = {}
    with_node: int = 0
    waiting: int = 0
    unknown: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    def counts(self) -> Mapping[Agreement, int]:
        """How many decisions there are of each agreement, all of them named."""
        found = Counter(decision.agreement for decision in self.decisions)
        return {agreement: found[agreement] for agreement in Agreement}

    def tried(self) -> int:
        """On how many other states than the recorded ones ours decided in all."""
        return sum(decision.tried for decision in self.decisions)

    def widths(self) -> Mapping[int, int]:
        """How many decisions agree on another state, by how many changes it is wide."""
        widths = (
            decision
            for decision in self.decisions
            if decision.agreement is Agreement.ORDER
        )
        return dict(sorted(Counter(width.width for width in widths).items()))

    def differing(self) -> Sequence[ComparedDecision]:
        """The decisions that differ, in order."""
        return [
            decision
            for decision in self.decisions
            if decision.agreement is Agreement.DIFFERS
        ]
