"""Explains why an attempt did not choose one node."""

from quaymaster._core.config.model import RANDOM
from quaymaster._core.contract.status import Code
from quaymaster._core.cycle.explanation import JudgedNode, NodeScores
from quaymaster._core.engine.attempts import Attempt, AttemptOutcome
from quaymaster._studies.simulation.explained import NodeFate, WhyNot

__all__ = ["why_not"]

_PREEMPTION = " preemption: "


def why_not(attempt: Attempt) -> WhyNot | None:
    """Return why the requested node was not chosen, or None without such a node."""
    judged = attempt.judged
    if judged is None:
        return None
    scores = _scores_of(attempt, judged.node)
    fate = _fate(attempt, judged, scores)
    return WhyNot(
        node=judged.node,
        fate=fate,
        rejections=judged.rejections,
        nominated=judged.nominated,
        scores=scores,
        winner=_scores_of(attempt, attempt.node),
        preemption=_preemption(attempt, judged) if fate is NodeFate.REJECTED else "",
        tie_breaker=attempt.explanation.tie_breaker if attempt.explanation else RANDOM,
    )


def _scores_of(attempt: Attempt, node: str) -> NodeScores | None:
    scores = attempt.explanation.scores if attempt.explanation is not None else ()
    return next((score for score in scores if score.node == node), None)


def _fate(attempt: Attempt, judged: JudgedNode, scores: NodeScores | None) -> NodeFate:
    if not judged.is_known:
        return NodeFate.UNKNOWN
    if judged.node == attempt.node:
        return NodeFate.CHOSEN
    if judged.rejections:
        return NodeFate.REJECTED
    return NodeFate.NOT_LOOKED_AT if scores is None else NodeFate.FEASIBLE


def _post_filter_facts(attempt: Attempt, node: str) -> tuple[str, ...]:
    rejections = attempt.explanation.rejections if attempt.explanation else ()
    return next((it.post_filter for it in rejections if it.node == node), ())


def _preemption(attempt: Attempt, judged: JudgedNode) -> str:
    """Describe the result of preemption for a rejected node, if any."""
    if attempt.outcome is not AttemptOutcome.UNSCHEDULABLE:
        return ""
    if any(rejection.code is not Code.UNSCHEDULABLE for rejection in judged.rejections):
        return "it would not help if pods were preempted there"
    if attempt.nominated_node == judged.node:
        return "pods are preempted there, and the pod is nominated to it"
    if attempt.nominated_node:
        return f"preemption has chosen {attempt.nominated_node}"
    facts = _post_filter_facts(attempt, judged.node)
    if facts:
        return "; ".join(facts)
    _, _, said = attempt.message.partition(_PREEMPTION)
    return f"preemption was tried there, too: {said}" if said else ""
