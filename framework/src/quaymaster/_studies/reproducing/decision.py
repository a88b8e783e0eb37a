"""Defines when two decisions about a pod are the same."""

from collections.abc import Iterable

import attrs

from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.engine.attempts import Attempt

__all__ = ["Decision", "decision_of"]


@attrs.frozen(kw_only=True)
class Decision:
    """The decision of one attempt, without facts that a smaller cluster may change.

    Two decisions are the same if their outcomes are, the nodes, the reasons for which
    nodes were rejected, and the refusal after a node was chosen. How many nodes were
    rejected for each reason does not count, nor which ones, nor by how much the best
    node won.

    Attributes:
        outcome: ``scheduled``, ``unschedulable``, ``error`` or ``unfinished``.
        node: The node that the pod got, or empty.
        nominated_node: The node to which it was nominated by preemption, or empty.
        has_victims: Whether pods were preempted for it.
        rejected: The reasons for which nodes were rejected, each with its plugin and
            the kind of the verdict.
        contest: ``won`` if the node was better than all others, ``tied`` if the best of
            the others was as good, ``alone`` if no other was feasible.
        error: What ended the attempt early, or empty.
        refusal: The message of a plugin that refused the pod after a node was chosen,
            at Reserve, Permit, PreBind or Bind; or empty.
        refused_by: The plugins that did so.
    """

    outcome: str
    node: str
    nominated_node: str
    has_victims: bool
    rejected: frozenset[tuple[str, str, tuple[str, ...]]]
    contest: str
    error: str
    refusal: str = ""
    refused_by: tuple[str, ...] = ()

    def is_renamed(self, other: "Decision") -> bool:
        """Whether another decision is the same except for names."""

        def shape(decision: "Decision") -> tuple[object, ...]:
            plugins = sorted(
                (plugin, code, len(reasons))
                for plugin, code, reasons in decision.rejected
            )
            return (
                decision.outcome,
                bool(decision.node),
                bool(decision.nominated_node),
                decision.has_victims,
                plugins,
                decision.contest,
                bool(decision.error),
                bool(decision.refusal),
                decision.refused_by,
            )

        return shape(self) == shape(other)


def decision_of(attempt: Attempt) -> Decision:
    """Return the decision of an explained attempt."""
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
        refusal=attempt.message if _is_refused(attempt) else "",
        refused_by=attempt.plugins if _is_refused(attempt) else (),
    )


def _is_refused(attempt: Attempt) -> bool:
    """Whether the pod fits on some node, and got none."""
    explanation = attempt.explanation
    if explanation is None or explanation.status is not None:
        return False
    return bool(attempt.message) and not explanation.message


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
