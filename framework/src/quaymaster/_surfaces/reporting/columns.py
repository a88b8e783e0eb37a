"""An observed run as columns: small as JSON, and quick to read in a browser."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.resources import node_allocatable, pod_requests
from quaymaster._core.cycle.explanation import NodeScores
from quaymaster._studies.capacity.node_status import kubectl_status, why_closed
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.simulation.observed import ObservedAttempt, ObservedRun
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.series import Sample
from quaymaster._surfaces.reporting.headline import headline, phrase
from quaymaster._surfaces.reporting.needs import NodeAmounts, needs_of
from quaymaster._surfaces.reporting.scaled import scaled_columns

__all__ = ["attempt_document", "coded", "run_columns", "scores_document"]

_ALWAYS: Final = ("cpu", "memory")
_PODS: Final = "pods"
_SELDOM: Final = ("ephemeral-storage", "hugepages-")
_MOST_LABEL_VALUES: Final = 64
"""Labels with more values are not shown as groups on the map of nodes."""
_COUNTS: Final = (
    *("at", "attempts", "placed", "preempted", "active", "backoff"),
    *("unschedulable", "waiting", "nodes", "pods"),
)


def run_columns(run: ObservedRun, prices: Prices | None = None) -> dict[str, object]:
    """Return what a page shows of a run, as plain data.

    Args:
        run: The run.
        prices: Prices of nodes without an annotation.
    """
    result = run.result
    names = _resources(run.nodes, run.pods)
    amounts = _amounts(run.nodes, run.pods, names)
    needs = needs_of(run, amounts)
    return {
        "name": run.name,
        "summary": {
            "pods": result.pods,
            "placed": len(result.placements),
            "unscheduled": len(result.unscheduled),
            "preempted": len(result.preempted),
            "nodes": result.nodes,
            "makespan": result.makespan,
        },
        "notices": [notice.message for notice in result.notices],
        "headline": headline(run.nodes, amounts, needs),
        "needs": [
            {
                "words": phrase(len(need.pods), need.words),
                "pods": need.pods,
                "nodes": need.nodes,
            }
            for need in needs
        ],
        "resources": [*names, _PODS],
        "nodes": _nodes(run.nodes, amounts, prices or Prices()),
        "pods": _pods(run, names),
        "preempted": [
            [victim.pod, victim.by, victim.node, victim.at]
            for victim in result.preempted
        ],
        "samples": _samples(run.samples, names),
        "scaled": run.scaled and scaled_columns(run.scaled.nodes),
        "attempts": [attempt_document(attempt) for attempt in run.attempts],
    }


def _resources(nodes: Iterable[Node], pods: Iterable[Pod]) -> list[str]:
    """The resources that some node offers, those that every cluster has first.

    Nodes always offer storage and huge pages, so these count if a pod requests any.
    """
    offered: set[str] = set()
    for node in nodes:
        offered.update(node.status.allocatable)
    requests = [pod_requests(pod) for pod in pods]
    return [
        *_ALWAYS,
        *(
            name
            for name in sorted(offered - {*_ALWAYS, _PODS})
            if not name.startswith(_SELDOM)
            or any(request.get(name) for request in requests)
        ),
    ]


def _amounts(
    nodes: Sequence[Node], pods: Iterable[Pod], names: Sequence[str]
) -> NodeAmounts:
    rows = {node.name: row for row, node in enumerate(nodes)}
    requested = [[0] * len(nodes) for _ in (*names, _PODS)]
    for pod in pods:
        row = rows.get(pod.node_name)
        if row is None or pod.is_finished:
            continue
        requests = pod_requests(pod)
        for column, name in zip(requested, names, strict=False):
            column[row] += requests.get(name)
        requested[-1][row] += 1
    offers = [node_allocatable(node) for node in nodes]
    return NodeAmounts(
        resources=[*names, _PODS],
        allocatable=[
            *([offer.get(name) for offer in offers] for name in names),
            [offer.allowed_pods for offer in offers],
        ],
        requested=requested,
    )


def _nodes(
    nodes: Sequence[Node], amounts: NodeAmounts, prices: Prices
) -> dict[str, object]:
    return {
        "name": [node.name for node in nodes],
        "unschedulable": [int(node.spec.unschedulable) for node in nodes],
        "status": coded([kubectl_status(node) for node in nodes]),
        "closed": coded([why_closed(node) for node in nodes]),
        "price": prices.of_all(nodes),
        "taints": coded([_taints(node) for node in nodes]),
        "labels": _labels(nodes),
        "allocatable": amounts.allocatable,
        "requested": amounts.requested,
    }


def _taints(node: Node) -> str:
    return ", ".join(
        f"{taint.key}{'=' + taint.value if taint.value else ''}:{taint.effect}"
        for taint in node.spec.taints
    )


def _labels(nodes: Sequence[Node]) -> dict[str, object]:
    """The labels with few values, each as a column."""
    values: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    return {
        key: coded([node.labels.get(key, "") for node in nodes])
        for key in sorted(values)
        if len(values[key]) <= _MOST_LABEL_VALUES
    }


def _pod_groups(run: ObservedRun) -> dict[str, object]:
    """Return the column with the PodGroup of each pod, if there are groups."""
    if not run.result.groups:
        return {}
    return {"group": coded([pod.group_key for pod in run.pods])}


def _pods(run: ObservedRun, names: Sequence[str]) -> dict[str, object]:
    placed = {placement.pod: placement for placement in run.result.placements}
    waiting = {pod.pod: pod for pod in run.result.unscheduled}
    causes = _causes(run.result)
    rows = {node.name: row for row, node in enumerate(run.nodes)}
    pods = run.pods
    requests = [pod_requests(pod) for pod in pods]
    keys = [pod.key for pod in pods]
    return {
        "name": [pod.name for pod in pods],
        "namespace": coded([pod.namespace for pod in pods]),
        "workload": coded(
            [
                run.workloads.get(key) or _workload(pod)
                for key, pod in zip(keys, pods, strict=True)
            ]
        ),
        **_pod_groups(run),
        "node": [rows.get(pod.node_name, -1) for pod in pods],
        "state": coded(
            [
                _state(pod, waiting[key].reason if key in waiting else "")
                for pod, key in zip(pods, keys, strict=True)
            ]
        ),
        "created": _of(placed, waiting, keys, "created"),
        "bound": [placed[key].bound if key in placed else None for key in keys],
        "finished": [placed[key].finished if key in placed else None for key in keys],
        "attempts": _of(placed, waiting, keys, "attempts"),
        "priority": [pod.priority for pod in pods],
        "cause": coded([causes.get(key, "") for key in keys]),
        "message": coded(
            [waiting[key].message if key in waiting else "" for key in keys]
        ),
        "requests": [[request.get(name) for request in requests] for name in names],
    }


def _of(
    placed: Mapping[str, object],
    waiting: Mapping[str, object],
    keys: Iterable[str],
    field: str,
) -> list[object]:
    """A field that placed and waiting pods have; 0 for pods that came with a node."""
    scores_of_keys = (placed.get(key) or waiting.get(key) for key in keys)
    return [
        0 if scores is None else getattr(scores, field) for scores in scores_of_keys
    ]


def _causes(result: SimulationResult) -> dict[str, str]:
    return {
        pod.pod: ", ".join(sorted(pod.reasons)) or pod.message
        for pod in result.unscheduled
    }


def _workload(pod: Pod) -> str:
    owner = pod.metadata.controller
    return f"{owner.kind}/{owner.name}" if owner else ""


def _state(pod: Pod, reason: str) -> str:
    if reason:
        return "gated" if reason == "SchedulingGated" else "pending"
    if pod.is_finished:
        return "finished"
    return "terminating" if pod.is_terminating else "placed"


def _samples(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, object]:
    counts = {name: [getattr(sample, name) for sample in samples] for name in _COUNTS}
    return {
        **counts,
        "requested": [
            [sample.requested.get(name, 0) for sample in samples] for name in names
        ],
        "allocatable": [
            [sample.allocatable.get(name, 0) for sample in samples] for name in names
        ],
    }


def attempt_document(attempt: ObservedAttempt) -> dict[str, object]:
    """Return what a page shows of an attempt, as plain data."""
    return {
        "pod": attempt.pod,
        "number": attempt.number,
        "at": attempt.at,
        "outcome": attempt.outcome.value,
        "node": attempt.node,
        "nominated": attempt.nominated_node,
        "message": attempt.message,
        "preempted": list(attempt.preempted),
        "feasible": attempt.feasible_nodes,
        **scores_document(attempt.scores),
        "rejected": [
            [
                *(group.plugin, list(group.reasons), group.nodes),
                *(list(group.such_as), list(group.details)),
            ]
            for group in attempt.rejected
        ],
    }


def scores_document(rated: Sequence[NodeScores]) -> dict[str, object]:
    """Return the scores of some nodes by plugin, as plain data."""
    plugins = list(dict.fromkeys(name for row in rated for name in row.plugins))
    return {
        "plugins": plugins,
        "scores": [_scores(row, plugins) for row in rated],
    }


def _scores(row: NodeScores, plugins: Iterable[str]) -> list[object]:
    scores = [row.plugins.get(name) for name in plugins]
    return [
        row.node,
        row.total,
        [score and [score.raw, score.normalized, score.weighted] for score in scores],
    ]


def coded(values: Sequence[str]) -> dict[str, object]:
    """Return a column: each different text once, and a number for each row."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return {"values": list(numbers), "codes": [numbers[value] for value in values]}
