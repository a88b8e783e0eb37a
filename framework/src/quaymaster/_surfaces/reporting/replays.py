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
            [one.value, one.meaning, count] for one, count in replay.counts().items()
        ],
        "seconds": replay.seconds,
        "pods": replay.pods,
        "withNode": replay.with_node,
        "waiting": replay.waiting,
        "tried": replay.tried(),
        "others": list(replay.others.items()),
        "unknown": list(replay.unknown),
        "notices": [one.message for one in replay.notices],
        "decisions": {
            "pod": [one.pod for one in decisions],
            "scheduler": coded([one.scheduler for one in decisions]),
            "at": [one.at for one in decisions],
            "agreement": coded([one.agreement.value for one in decisions]),
            "theirs": _places([one.theirs for one in decisions]),
            "ours": _places([one.ours for one in decisions]),
            "best": [one.best for one in decisions],
            "tried": [one.tried for one in decisions],
            "width": [one.width for one in decisions],
        },
        "details": {
            row: _details(one)
            for row, one in enumerate(decisions)
            if one.agreement is not Agreement.SAME
        },
    }


def _places(decided: Sequence[Decided]) -> dict[str, object]:
    return coded([one.node for one in decided])


def _details(one: ComparedDecision) -> dict[str, object]:
    rated = [scores for scores in (one.their_scores, one.our_scores) if scores]
    found = list({scores.node: scores for scores in rated}.values())
    return {
        "theirs": _decided(one.theirs),
        "ours": _decided(one.ours),
        "rejection": _rejection(one.rejection),
        **scores_document(found),
    }


def _decided(one: Decided) -> dict[str, object]:
    return {
        "node": one.node,
        "message": one.message,
        "nominated": one.nominated_node,
        "preempted": list(one.victims),
    }


def _rejection(one: NodeRejection | None) -> list[object] | None:
    return None if one is None else [one.node, one.plugin, list(one.reasons)]
