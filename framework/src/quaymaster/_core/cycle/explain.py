"""Explains an attempt: runs it with every plugin's answers, and changes nothing."""

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.config.model import BY_NAME
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Feasible, FitError
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.cycle.explanation import (
    Explanation,
    JudgedNode,
    NodeRejection,
    NodeScores,
    PluginScore,
)
from quaymaster._core.cycle.filter_call import FilterCall
from quaymaster._core.cycle.nominated import nominated_ahead
from quaymaster._core.cycle.score_call import PluginScores
from quaymaster._core.state.arrays import Int64Array, Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Scored", "explain", "explain_and_score", "judge_node"]


class Scored:
    """The scores of all feasible nodes; objects are made only for requested nodes.

    Args:
        names: The nodes, shape ``(N,)``.
        plugins: The scores of each plugin.
        total: The sums of the weighted scores, shape ``(N,)``.
        ranks: The order of nodes with equal totals, shape ``(N,)``; None for row order.
    """

    def __init__(
        self,
        names: Sequence[str],
        plugins: Sequence[PluginScores],
        total: Int64Array,
        ranks: Int64Array | None = None,
    ) -> None:
        self._names = names
        self._plugins = plugins
        self._total = total
        self._ranks = ranks

    def __len__(self) -> int:
        """The number of feasible nodes."""
        return len(self._names)

    def best(self, most: int | None = None) -> tuple[NodeScores, ...]:
        """Return the nodes, the best first.

        Args:
            most: The maximum number of nodes; None for all.
        """
        keys = [-self._total] if self._ranks is None else [self._ranks, -self._total]
        return tuple(map(self._at, np.lexsort(keys)[:most].tolist()))

    def of(self, name: str) -> NodeScores | None:
        """Return a node's scores, or None if it is not feasible."""
        return self._at(self._names.index(name)) if name in self._names else None

    def _at(self, index: int) -> NodeScores:
        return _node_scores(self._names[index], index, self._plugins, self._total)


def explain(algorithm: Algorithm, pod: Pod, scheduler: str) -> Explanation:
    """Run PreFilter, Filter and Score for a pod, and return every plugin's answers.

    Unlike in a real attempt, a single feasible node is scored as well, and PostFilter
    does not run.
    """
    explanation, scored, attempt = _explained(algorithm, pod, scheduler)
    calls = {call.plugin: call for call in algorithm.filter.calls}
    status = explanation.status
    if status is not None and not explanation.rejections:
        rejections = tuple(_failing(algorithm, pod, calls.get(status.plugin)))
    else:
        facts = _Facts(algorithm, attempt)
        rejections = tuple(map(facts.added, explanation.rejections))
        if scored is None and not attempt.diagnosis.pre_filter_message:
            rejections = tuple(
                _with_post_filter(algorithm, attempt, rejection)
                for rejection in rejections
            )
    return attrs.evolve(
        explanation,
        rejections=rejections,
        scores=scored.best() if scored else (),
        tie_breaker=algorithm.ties_broken_by,
    )


def explain_and_score(
    algorithm: Algorithm, pod: Pod, scheduler: str, *, with_post_filter: bool = False
) -> tuple[Explanation, Scored | None]:
    """Return an explanation and the scores of all nodes, if any.

    Of the nodes that a plugin rejected for the same reasons, only the first has
    details.

    Args:
        algorithm: The plugins.
        pod: The pod.
        scheduler: The profile's name.
        with_post_filter: Whether these nodes also have what PostFilter can do there, if
            the pod fits nowhere. Preemption is tried on all nodes for that.
    """
    explanation, scored, attempt = _explained(algorithm, pod, scheduler)
    facts = _Facts(algorithm, attempt)
    is_unfit = scored is None and not attempt.diagnosis.pre_filter_message
    seen: set[tuple[str, tuple[str, ...]]] = set()
    rejections: list[NodeRejection] = []
    for rejection in explanation.rejections:
        group = rejection.plugin, rejection.reasons
        rejections.append(rejection if group in seen else facts.added(rejection))
        if with_post_filter and is_unfit and group not in seen:
            rejections[-1] = _with_post_filter(algorithm, attempt, rejections[-1])
        seen.add(group)
    return attrs.evolve(explanation, rejections=tuple(rejections)), scored


def _explained(
    algorithm: Algorithm, pod: Pod, scheduler: str
) -> tuple[Explanation, Scored | None, Attempt]:
    nodes = algorithm.nodes
    attempt = Attempt.begin(CycleState(), pod, nodes)
    feasible = algorithm.find_feasible(attempt)
    if isinstance(feasible, FitError):
        return _unfit(nodes, pod, scheduler, feasible), None, attempt
    scores = _scores(algorithm, attempt, feasible)
    failed = scores if isinstance(scores, Status) else None
    explanation = Explanation(
        pod=pod.key,
        scheduler=scheduler,
        rejections=_rejections(feasible.diagnosis, nodes, _others(nodes, feasible)),
        status=failed,
    )
    return explanation, None if isinstance(scores, Status) else scores, attempt


def judge_node(algorithm: Algorithm, pod: Pod, name: str) -> JudgedNode:
    """Run every Filter plugin on a node, even if an earlier one has rejected it.

    First the plugins judge the node without nominated pods. If none rejects it, the
    pods that are nominated to it are imagined there, as in an attempt.
    """
    nodes = algorithm.nodes
    node = nodes.get(name)
    if node is None:
        return JudgedNode(node=name, is_known=False)
    ahead = nominated_ahead(pod, algorithm.nominated.on(name))
    attempt = Attempt.begin(CycleState(), pod, nodes)
    outcome = algorithm.pre_filter.run(attempt)
    if outcome.status is not None:
        rejections = [_rejection(name, outcome.status)]
    elif outcome.node_names is not None and name not in outcome.node_names:
        plugins = ", ".join(sorted(outcome.restricting_plugins))
        left_out = Status.unresolvable("the pod asks for other nodes")
        rejections = [_rejection(name, left_out.with_plugin(plugins))]
    else:
        rejections = list(_filtered(algorithm, attempt, node))
        if not rejections:
            status = algorithm.filter.run_with_nominated_pods(
                attempt.state, pod, node, ahead
            )
            rejections = [] if status is None else [_rejection(name, status)]
    return JudgedNode(
        node=name,
        rejections=tuple(rejections),
        nominated=tuple(other.key for other in ahead),
    )


def _filtered(
    algorithm: Algorithm, attempt: Attempt, node: NodeInfo
) -> Iterator[NodeRejection]:
    facts = _Facts(algorithm, attempt)
    for call in algorithm.filter.calls:
        if call.plugin not in attempt.state.skip_filter_plugins:
            status = call.judge(attempt.state, attempt.pod, node)
            if status is not None:
                yield facts.added(_rejection(node.name, status))


def _failing(
    algorithm: Algorithm, pod: Pod, call: FilterCall | None
) -> Iterator[NodeRejection]:
    """Yield the nodes on which a filter returns an Error, if it can explain them.

    An attempt names no node in that case, since the first Error ends it.
    """
    if call is None or not call.explains:
        return
    nodes = algorithm.nodes
    attempt = Attempt.begin(CycleState(), pod, nodes)
    if algorithm.pre_filter.run(attempt).status is not None:
        return
    facts = _Facts(algorithm, attempt)
    for node in nodes.infos_at(nodes.rows):
        status = call.judge(attempt.state, pod, node)
        if status is not None and status.is_error:
            yield facts.added(_rejection(node.name, status))


class _Facts:
    """Adds the facts of plugins to the rejections of an attempt.

    Args:
        algorithm: The plugins.
        attempt: The attempt, after its filters.
    """

    def __init__(self, algorithm: Algorithm, attempt: Attempt) -> None:
        self._algorithm = algorithm
        self._attempt = attempt
        self._calls = {call.plugin: call for call in algorithm.filter.calls}
        self._pod_facts: dict[str, tuple[str, ...]] = {}

    def added(self, rejection: NodeRejection) -> NodeRejection:
        """Return a rejection with facts."""
        attempt = self._attempt
        node = attempt.nodes.get(rejection.node)
        if node is None:
            return rejection
        if attempt.diagnosis.pre_filter_message:
            details: Sequence[str] = self._of_pod(rejection.plugin)
        elif rejection.plugin:
            details = self._by_filter(rejection.plugin, node)
        else:
            details = self._by_pre_filter(node) if rejection.reasons else ()
        return attrs.evolve(rejection, details=tuple(details)) if details else rejection

    def _of_pod(self, plugin: str) -> Sequence[str]:
        """Return the facts of a plugin whose PreFilter rejected the pod, cached."""
        facts = self._pod_facts.get(plugin)
        if facts is None:
            station, attempt = self._algorithm.pre_filter, self._attempt
            facts = station.explain(plugin, attempt.state, attempt.pod)
            self._pod_facts[plugin] = facts
        return facts

    def _by_filter(self, plugin: str, node: NodeInfo) -> Sequence[str]:
        call = self._calls.get(plugin)
        if call is None or not call.explains:
            return ()
        state, pod = self._attempt.state, self._attempt.pod
        ahead = nominated_ahead(pod, self._algorithm.nominated.on(node.name))
        if not ahead or call.judge(state, pod, node) is not None:
            return call.explain(state, pod, node)
        # It rejects the node only with the pods that are nominated to it.
        state, imagined = self._algorithm.filter.with_pods(state, pod, node, ahead)
        names = ", ".join(other.key for other in ahead)
        facts = call.explain(state, pod, imagined)
        return (*facts, f"room is kept for the nominated pod {names}")

    def _by_pre_filter(self, node: NodeInfo) -> Sequence[str]:
        """Return the facts of the plugins whose PreFilter left the node out."""
        attempt = self._attempt
        state, pod = attempt.state, attempt.pod
        facts: list[str] = []
        for plugin in sorted(attempt.diagnosis.pre_filter_plugins):
            call = self._calls.get(plugin)
            if call is not None and call.judge(state, pod, node) is not None:
                facts += call.explain(state, pod, node)
        return facts


def _with_post_filter(
    algorithm: Algorithm, attempt: Attempt, rejection: NodeRejection
) -> NodeRejection:
    """Add what PostFilter can do on the node, for a pod that fits nowhere."""
    node = attempt.nodes.get(rejection.node)
    if node is None:
        return rejection
    facts = algorithm.post_filter.explain(
        attempt.state, attempt.pod, node, attempt.diagnosis
    )
    return attrs.evolve(rejection, post_filter=facts) if facts else rejection


def _rejection(node: str, status: Status) -> NodeRejection:
    return NodeRejection(
        node=node, plugin=status.plugin, code=status.code, reasons=status.reasons
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


def _others(nodes: NodeTable, feasible: Feasible) -> Rows:
    rows = nodes.row_numbers(nodes.rows)
    return np.setdiff1d(rows, nodes.row_numbers(feasible.rows))


def _rejections(
    diagnosis: Diagnosis, nodes: NodeTable, rows: Rows
) -> tuple[NodeRejection, ...]:
    return tuple(_rejection(name, diagnosis[name]) for name in nodes.names_at(rows))


def _scores(
    algorithm: Algorithm, attempt: Attempt, feasible: Feasible
) -> Scored | Status:
    nodes, rows = algorithm.nodes_of(feasible), feasible.rows
    attempt = attempt.on(nodes)
    station = algorithm.score_of(feasible)
    plugins = station.run(attempt, rows)
    if isinstance(plugins, Status):
        return plugins
    total = station.summed(plugins, nodes.count(rows))
    for scores in algorithm.extender_scores(attempt.pod, feasible):
        plugins.append(scores)
        total = total + scores.weighted
    by_name = algorithm.ties_broken_by == BY_NAME
    ranks = nodes.name_ranks[rows] if by_name else None
    return Scored(nodes.names_at(rows), plugins, total, ranks)


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
