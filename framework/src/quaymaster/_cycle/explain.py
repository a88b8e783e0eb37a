"""Take one attempt apart, changing nothing."""

from collections.abc import Sequence

import numpy as np

from quaymaster._contract.cycle_state import CycleState
from quaymaster._contract.status import Status
from quaymaster._cycle.algorithm import Algorithm
from quaymaster._cycle.attempt import Attempt
from quaymaster._cycle.decisions import Feasible, FitError
from quaymaster._cycle.diagnosis import Diagnosis
from quaymaster._cycle.explanation import (
    Explanation,
    NodeRejection,
    NodeScores,
    PluginScore,
)
from quaymaster._cycle.score_call import PluginScores
from quaymaster._objects import Pod
from quaymaster._state.arrays import Int64Array, Rows
from quaymaster._state.node_table import NodeTable

__all__ = ["explain"]


def explain(algorithm: Algorithm, pod: Pod, scheduler: str) -> Explanation:
    """Run PreFilter, Filter and Score for a pod and keep what every plugin said.

    Unlike in a real attempt a single feasible node is scored too, and PostFilter does
    not run.
    """
    nodes = algorithm.nodes
    attempt = Attempt.begin(CycleState(), pod, nodes)
    found = algorithm.find_feasible(attempt)
    if isinstance(found, FitError):
        return _unfit(nodes, pod, scheduler, found)
    scores = _scores(algorithm, attempt, found)
    return Explanation(
        pod=pod.key,
        scheduler=scheduler,
        rejections=_rejections(found.diagnosis, nodes, _others(nodes, found)),
        scores=() if isinstance(scores, Status) else tuple(scores),
        status=scores if isinstance(scores, Status) else None,
    )


def _unfit(nodes: NodeTable, pod: Pod, scheduler: str, unfit: FitError) -> Explanation:
    diagnosis = unfit.diagnosis
    if diagnosis is None:
        return Explanation(
            pod=pod.key,
            scheduler=scheduler,
            status=unfit.status,
            message=unfit.status.message,
        )
    return Explanation(
        pod=pod.key,
        scheduler=scheduler,
        rejections=_rejections(diagnosis, nodes, nodes.rows),
        message=diagnosis.message(),
    )


def _others(nodes: NodeTable, found: Feasible) -> Rows:
    return np.setdiff1d(nodes.row_numbers(nodes.rows), nodes.row_numbers(found.rows))


def _rejections(
    diagnosis: Diagnosis, nodes: NodeTable, rows: Rows
) -> tuple[NodeRejection, ...]:
    return tuple(
        NodeRejection(
            node=name,
            plugin=diagnosis[name].plugin,
            code=diagnosis[name].code,
            reasons=diagnosis[name].reasons,
        )
        for name in nodes.names_at(rows)
    )


def _scores(
    algorithm: Algorithm, attempt: Attempt, found: Feasible
) -> Sequence[NodeScores] | Status:
    nodes, rows = algorithm.nodes_of(found), found.rows
    attempt = attempt.on(nodes)
    station = algorithm.score_of(found)
    plugins = station.run(attempt, rows)
    if isinstance(plugins, Status):
        return plugins
    total = station.summed(plugins, nodes.count(rows))
    for scores in algorithm.extender_scores(attempt.pod, found):
        plugins.append(scores)
        total = total + scores.weighted
    names = nodes.names_at(rows)
    order = np.argsort(-total, kind="stable").tolist()
    return [_node_scores(names[index], index, plugins, total) for index in order]


def _node_scores(
    name: str, index: int, plugins: Sequence[PluginScores], total: Int64Array
) -> NodeScores:
    return NodeScores(
        node=name,
        plugins={
            scores.plugin: PluginScore(
                raw=int(scores.raw[index]),
                normalized=int(scores.normalized[index]),
                weighted=int(scores.weighted[index]),
            )
            for scores in plugins
        },
        total=int(total[index]),
    )
