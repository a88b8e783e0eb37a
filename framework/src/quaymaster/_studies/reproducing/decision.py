"""What counts as the same decision about a pod."""

from collections.abc import Iterable

import attrs

from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.engine.attempts import Attempt

__all__ = ["Decision", "decision_of"]


@attrs.frozen(kw_only=True)
class Decision:
    """What one attempt has decided, without what a smaller cluster may change.

    Two decisions are the same if their outcomes are, the nodes, and the reasons for
    which nodes were rejected. How many nodes were rejected for each reason does not
    count, nor which ones, nor by how much the best node won.

    Attributes:
        outcome: ``scheduled``, ``unschedulable``, ``error`` or ``unfinished``.
        node: The node that the pod got, or empty.
        nominated_node: The node that was freed for it by preemption, or empty.
        has_victims: Whether pods were preempted for it.
        rejected: The reasons for which nodes were rejected, each with its plugin and
            the kind of the verdict.
        contest: ``won`` if the node was better than some other one, ``tied`` if it was
            only as good as the best of the others, ``alone`` if there was none.
        error: What ended the attempt early, or empty.
    """

    outcome: str
    node: str
    nominated_node: str
    has_victims: bool
    rejected: frozenset[tuple[str, str, tuple[str, ...]]]
    contest: str
    error: str

    def is_renamed(self, other: "Decision") -> bool:
        """Whether another decision is the same but for names."""

        def shape(one: "Decision") -> tuple[object, ...]:
            plugins = sorted(
                (plugin, code, len(reasons)) for plugin, code, reasons in one.rejected
            )
            flags = bool(one.node), bool(one.nominated_node), one.has_victims
            return one.outcome, *flags, plugins, one.contest, bool(one.error)

        return shape(self) == shape(other)


def decision_of(attempt: Attempt) -> Decision:
    """Return what an attempt has decided; it must have been explained."""
    explanation = attempt.explanation
    status = None if explanation is None else explanation.status
    return Decision(
        outcome=attempt.outcome.value,
        node=attempt.node,
        nominated_node=attempt.nominated_node,
        has_victims=bool(attempt.preempted),
        rejected=frozenset(_rejected(explanation)),
        contest=_contest(explanation, attempt.node),
        error="" if status is None else status.message,
    )


def _rejected(
    explanation: Explanation | None,
) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    for rejection in () if explanation is None else explanation.rejections:
        yield rejection.plugin, rejection.code.label, rejection.reasons


def _contest(explanation: Explanation | None, node: str) -> str:
    if explanation is None or not node:
        return ""
    totals = {score.node: score.total for score in explanation.scores}
    others = [total for name, total in totals.items() if name != node]
    if not others or node not in totals:
        return "alone"
    return "tied" if totals[node] <= max(others) else "won"
