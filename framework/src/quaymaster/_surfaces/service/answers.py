"""What clients are told, as plain data."""

from collections import Counter
from collections.abc import Mapping, Sequence

from quaymaster._clusters.manifests.loaded import Loaded, skipped_text
from quaymaster._core.cycle.explanation import Explanation, NodeScores
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._surfaces.service.trial import Tried
from quaymaster._surfaces.service.warm import Fit, WarmCluster

__all__ = ["explain_answer", "fit_answer", "simulate_answer"]


def fit_answer(found: Fit) -> dict[str, object]:
    """The answer to the question whether pods fit."""
    return {
        "fits": found.placed == len(found.pods),
        "placed": found.placed,
        "asked": len(found.pods),
        "pods": [_tried(one) for one in found.pods],
    }


def _tried(one: Tried) -> dict[str, object]:
    if one.node:
        return {"pod": one.pod, "node": one.node}
    return {
        "pod": one.pod,
        "node": "",
        "message": one.message,
        "reasons": list(one.reasons),
        "plugins": list(one.plugins),
    }


def explain_answer(found: Explanation, top: int) -> dict[str, object]:
    """The answer to the question why a pod would go where it would go.

    Args:
        found: What the plugins said.
        top: How many nodes are listed at most; 0 for all.
    """
    most = top or None
    counts = Counter(
        (one.plugin, reason) for one in found.rejections for reason in one.reasons
    )
    return {
        "pod": found.pod,
        "scheduler": found.scheduler,
        "fits": bool(found.scores),
        "message": found.message or (found.status.message if found.status else ""),
        "feasible": len(found.scores),
        "rejected": len(found.rejections),
        "reasons": [
            {"nodes": count, "plugin": plugin, "reason": reason}
            for (plugin, reason), count in counts.most_common()
        ],
        "scores": [_scores(one) for one in found.scores[:most]],
        "rejections": [
            {
                "node": one.node,
                "plugin": one.plugin,
                "reasons": list(one.reasons),
                "details": list(one.details),
            }
            for one in found.rejections[:most]
        ],
    }


def _scores(one: NodeScores) -> Mapping[str, object]:
    plugins = {
        name: {"raw": it.raw, "normalized": it.normalized, "weighted": it.weighted}
        for name, it in one.plugins.items()
    }
    return {"node": one.node, "total": one.total, "plugins": plugins}


def simulate_answer(
    found: SimulationResult, loaded: Loaded, cluster: WarmCluster, *, everything: bool
) -> dict[str, object]:
    """The answer to the question what happens if objects come in.

    Args:
        found: The result with these objects.
        loaded: The objects, and what was left out of the request.
        cluster: The cluster without them.
        everything: Whether pods of the cluster are told of, too.
    """

    def tells(pod: str) -> bool:
        return everything or cluster.is_new(pod)

    placed = [one for one in found.placements if tells(one.pod)]
    left = [one for one in found.unscheduled if tells(one.pod)]
    return {
        "placements": [
            {"pod": one.pod, "node": one.node, "bound": one.bound} for one in placed
        ],
        "unscheduled": [
            {
                "pod": one.pod,
                "reason": one.reason,
                "message": one.message,
                "reasons": list(one.reasons),
                "plugins": list(one.plugins),
            }
            for one in left
        ],
        "preempted": [
            {"pod": one.pod, "by": one.by, "node": one.node} for one in found.preempted
        ],
        "summary": {
            "placed": len(placed),
            "unscheduled": len(left),
            "nodes": found.nodes,
        },
        "warnings": _warnings(found, loaded),
    }


def _warnings(found: SimulationResult, loaded: Loaded) -> Sequence[str]:
    skipped = [skipped_text(loaded)] if loaded.skipped else []
    return [*skipped, *map(str, (*loaded.notices, *found.notices))]
