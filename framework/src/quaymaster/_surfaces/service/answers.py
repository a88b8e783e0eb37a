"""Builds the JSON documents of responses."""

from collections import Counter
from collections.abc import Mapping, Sequence

from quaymaster._clusters.manifests.loaded import Loaded, skipped_text
from quaymaster._core.cycle.explanation import Explanation, NodeScores
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._surfaces.service.trial import Tried
from quaymaster._surfaces.service.warm import Fit, WarmCluster

__all__ = ["explain_answer", "fit_answer", "simulate_answer"]


def fit_answer(fit: Fit) -> dict[str, object]:
    """Build the response of ``/v1/fit``."""
    return {
        "fits": fit.placed == len(fit.pods),
        "placed": fit.placed,
        "asked": len(fit.pods),
        "pods": [_tried(entry) for entry in fit.pods],
    }


def _tried(entry: Tried) -> dict[str, object]:
    if entry.node:
        return {"pod": entry.pod, "node": entry.node}
    return {
        "pod": entry.pod,
        "node": "",
        "message": entry.message,
        "reasons": list(entry.reasons),
        "plugins": list(entry.plugins),
    }


def explain_answer(explanation: Explanation, top: int) -> dict[str, object]:
    """Build the response of ``/v1/explain``.

    Args:
        explanation: The verdicts of the plugins.
        top: The highest number of nodes to list; 0 for all.
    """
    most = top or None
    counts = Counter(
        (entry.plugin, reason)
        for entry in explanation.rejections
        for reason in entry.reasons
    )
    return {
        "pod": explanation.pod,
        "scheduler": explanation.scheduler,
        "fits": bool(explanation.scores),
        "message": explanation.message
        or (explanation.status.message if explanation.status else ""),
        "feasible": len(explanation.scores),
        "rejected": len(explanation.rejections),
        "reasons": [
            {"nodes": count, "plugin": plugin, "reason": reason}
            for (plugin, reason), count in counts.most_common()
        ],
        "scores": [_scores(entry) for entry in explanation.scores[:most]],
        "rejections": [
            {
                "node": entry.node,
                "plugin": entry.plugin,
                "reasons": list(entry.reasons),
                "details": list(entry.details),
                "postFilter": list(entry.post_filter),
            }
            for entry in explanation.rejections[:most]
        ],
    }


def _scores(entry: NodeScores) -> Mapping[str, object]:
    plugins = {
        name: {"raw": it.raw, "normalized": it.normalized, "weighted": it.weighted}
        for name, it in entry.plugins.items()
    }
    return {"node": entry.node, "total": entry.total, "plugins": plugins}


def simulate_answer(
    result: SimulationResult, loaded: Loaded, cluster: WarmCluster, *, everything: bool
) -> dict[str, object]:
    """Build the response of ``/v1/simulate``.

    Args:
        result: The result with the new objects.
        loaded: The new objects, and the skipped parts of the request.
        cluster: The cluster without them.
        everything: Whether to include pods of the cluster.
    """

    def is_included(pod: str) -> bool:
        return everything or cluster.is_new(pod)

    placed = [entry for entry in result.placements if is_included(entry.pod)]
    left = [entry for entry in result.unscheduled if is_included(entry.pod)]
    return {
        "placements": [
            {"pod": entry.pod, "node": entry.node, "bound": entry.bound}
            for entry in placed
        ],
        "unscheduled": [
            {
                "pod": entry.pod,
                "reason": entry.reason,
                "message": entry.message,
                "reasons": list(entry.reasons),
                "plugins": list(entry.plugins),
            }
            for entry in left
        ],
        "preempted": [
            {"pod": entry.pod, "by": entry.by, "node": entry.node}
            for entry in result.preempted
        ],
        "summary": {
            "placed": len(placed),
            "unscheduled": len(left),
            "nodes": result.nodes,
        },
        "warnings": _warnings(result, loaded),
    }


def _warnings(result: SimulationResult, loaded: Loaded) -> Sequence[str]:
    skipped = [skipped_text(loaded)] if loaded.skipped else []
    return [*skipped, *map(str, (*loaded.notices, *result.notices))]
