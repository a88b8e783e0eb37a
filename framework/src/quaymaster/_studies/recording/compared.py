"""Comparisons of decisions of two schedulers, and the result of a replay."""

import enum
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._base.notices import Notice
from quaymaster._core.cycle.explanation import NodeRejection, NodeScores

__all__ = ["Agreement", "ComparedDecision", "Decided", "ReplayProgress", "ReplayResult"]

ReplayProgress: TypeAlias = Callable[[int, int], None]
"""Called repeatedly with the number of decisions made, and of all decisions."""


class Agreement(enum.StrEnum):
    """How two decisions about the same pod compare."""

    SAME = "same"
    """The same node; or none, for the same reasons."""

    TIE = "tie"
    """Theirs is one of several nodes that are equally good to ours."""

    ORDER = "order"
    """The same decision on another state that the recorded scheduler may have seen.

    It may have lacked the last changes of a kind. Or it decided about pods of the same
    moment in another order than that of their bindings, where its queue allows that.
    """

    REASONS = "reasons"
    """No node in both, with other reasons."""

    DIFFERS = "differs"
    """Another node; or a node in one, and none in the other."""

    @property
    def meaning(self) -> str:
        """The meaning, in short, for tables."""
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
    """The decision of a scheduler about a pod.

    Attributes:
        node: The node, or empty.
        message: Why there was no node.
        nominated_node: The node to which it was nominated.
        victims: The keys of the victims, sorted.
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
        scheduler: Its scheduler name.
        at: When theirs was seen, in seconds since the beginning of the record.
        agreement: How they compare.
        theirs: The decision of the recorded scheduler.
        ours: Our decision.
        best: How many nodes were equally good to ours; 0 without a node.
        tried: On how many other states ours decided in search of agreement.
        width: By how many changes the state on which it agrees differs from the
            recorded one; 0 if it agrees on no state or none was needed.
        our_scores: Our scores of our node; only if the decisions differ.
        their_scores: Our scores of their node; only if the decisions differ.
        rejection: Why ours rejects their node, if it does.
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
class ReplayResult(Tabular):
    """The result of a replay.

    Attributes:
        decisions: Each decision of the record that could be compared, in order.
        seconds: The length of the record.
        pods: How many pods it has.
        others: Scheduler name without a profile -> the decisions about its pods, which
            were not compared.
        with_node: How many pods were created with a node, so that nothing was decided.
        waiting: How many pods were pending in the end.
        unknown: Facts that a record lacks and that may explain differences.
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
        """The number of decisions of each agreement, including zeros."""
        counts = Counter(decision.agreement for decision in self.decisions)
        return {agreement: counts[agreement] for agreement in Agreement}

    def tried(self) -> int:
        """The number of other states on which ours decided, in all."""
        return sum(decision.tried for decision in self.decisions)

    def widths(self) -> Mapping[int, int]:
        """The number of decisions that agree on another state, by its width."""
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
