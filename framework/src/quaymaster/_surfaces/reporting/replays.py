"""A replay as columns: what a page shows of decisions that were made again."""

from collections.abc import Sequence

from quaymaster._core.cycle.explanation import NodeRejection
from quaymaster._studies.recording.compared import (
    Agreement,
    ComparedDecision,
    Decided,
    ReplayResult,
)
from quaymaster._surfaces.reporting.columns import coded, scores_document

__all__ = ["replay_columns"]


def replay_columns(replay: ReplayResult) -> dict[str, object]:
    """Return what a page shows of a replay, as plain data.

    Args:
        replay: The replay. Of decisions that are the same only the node is shown.
    """
    decisions = replay.decisions
    return {
        "counts": [
            [agreement.value, agreement.meaning, count]
            for agreement, count in replay.counts().items()
        ],
        "seconds": replay.seconds,
        "pods": replay.pods,
        "withNode": replay.with_node,
        "waiting": replay.waiting,
        "tried": replay.tried(),
        "others": list(replay.others.items()),
        "unknown": list(replay.unknown),
        "notices": [notice.message for notice in replay.notices],
        "decisions": {
            "pod": [decision.pod for decision in decisions],
            "scheduler": coded([decision.scheduler for decision in decisions]),
            "at": [decision.at for decision in decisions],
            "agreement": coded([decision.agreement.value for decision in decisions]),
            "theirs": _places([decision.theirs for decision in decisions]),
            "ours": _places([decision.ours for decision in decisions]),
            "best": [decision.best for decision in decisions],
            "tried": [decision.tried for decision in decisions],
            "width": [decision.width for decision in decisions],
        },
        "details": {
            row: _details(decision)
            for row, decision in enumerate(decisions)
            if decision.agreement is not Agreement.SAME
        },
    }


def _places(decided: Sequence[Decided]) -> dict[str, object]:
    return coded([decision.node for decision in decided])


def _details(compared_decision: ComparedDecision) -> dict[str, object]:
    rated = [
        scores
        for scores in (compared_decision.their_scores, compared_decision.our_scores)
        if scores
    ]
    by_node = list({scores.node: scores for scores in rated}.values())
    return {
        "theirs": _decided(compared_decision.theirs),
        "ours": _decided(compared_decision.ours),
        "rejection": _rejection(compared_decision.rejection),
        **scores_document(by_node),
    }


def _decided(decided: Decided) -> dict[str, object]:
    return {
        "node": decided.node,
        "message": decided.message,
        "nominated": decided.nominated_node,
        "preempted": list(decided.victims),
    }


def _rejection(node_rejection: NodeRejection | None) -> list[object] | None:
    return (
        None
        if node_rejection is None
        else [node_rejection.node, node_rejection.plugin, list(node_rejection.reasons)]
    )
