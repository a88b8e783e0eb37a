"""A check: the code of a rejected node says whether pods that leave may resolve it."""

from typing import Final

from quaymaster._api.objects import Node, Pod
from quaymaster._authors.testing.contract.answers import answers, is_open, shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.pod_readings import (
    answers_and_reads,
    may_read_pods,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.status import Code, Status

__all__ = ["UNRESOLVABLE"]

_ENOUGH: Final = 30
"""In so many verdicts, a filter that depends on pods has read them once."""

_REMEDY: Final = (
    "no pod that leaves the node resolves it, and preemption looks in vain for "
    "victims there, so return Status.unresolvable(...)"
)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        actual, has_read = answers_and_reads(subject, cluster, pod)
        subject.verdicts.reads_pods |= has_read
        for name, status in actual.rejected.items():
            if not isinstance(status, Status):
                continue
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                _empty(Bench(subject, cluster), cluster, pod, name, status)
            elif status.code is Code.UNSCHEDULABLE:
                _count(subject, pod, _node(cluster, name), status)


def _count(subject: Subject, pod: Pod, nodes: list[Node], status: Status) -> None:
    """Count a verdict that pods which leave the node may resolve, as the plugin says.

    Raises:
        Finding: The plugin declares that no pod matters.
    """
    counts = subject.verdicts
    verdict = f"{shown(status)} for node '{nodes[0].name}'"
    if subject.pod_use is PodUse.NONE:
        text = f"{verdict}, but pod_use is {PodUse.NONE}: {_REMEDY}"
        fail("filter", text, pod, nodes)
    counts.unschedulable += 1
    subject.exercised["verdicts with Unschedulable"] += 1
    counts.example = verdict, [pod, *nodes]


def _empty(
    bench: Bench, cluster: SmallCluster, pod: Pod, name: str, status: Status
) -> None:
    """Remove the pods of a node that is rejected as unresolvable.

    Preemption does not consider such nodes, see ``nodesWherePreemptionMightHelp`` in
    ``pkg/scheduler/framework/preemption/preemption.go``.
    """
    leaving = [other for other in cluster.pods if other.node_name == name]
    for other in leaving:
        bench.remove(other)
    actual = answers(bench, pod)
    if leaving and is_open(actual.pre_filter) and name not in actual.rejected:
        text = (
            f"{shown(status)} for node '{name}', expected Unschedulable: the pod fits "
            "once other pods have left the node, so preemption must consider it"
        )
        fail("filter", text, pod, leaving, _node(cluster, name))


def _node(cluster: SmallCluster, name: str) -> list[Node]:
    return [node for node in cluster.nodes if node.name == name]


def _is_suspect(subject: Subject) -> bool:
    counts = subject.verdicts
    is_any = bool(counts.unschedulable)
    return is_any and not counts.reads_pods and not may_read_pods(subject)


def _needs_more(subject: Subject) -> bool:
    return _is_suspect(subject) and subject.verdicts.unschedulable < _ENOUGH


def _conclude(subject: Subject) -> None:
    counts = subject.verdicts
    if _is_suspect(subject) and counts.unschedulable >= _ENOUGH:
        verdict, example = counts.example
        text = (
            f"{verdict}, and in {counts.unschedulable} such verdicts it has read no "
            f"pod but the one that waits: {_REMEDY}"
        )
        fail("filter", text, example)


UNRESOLVABLE: Final = Check(
    name="unresolvable",
    promise="a verdict is called unresolvable if pods that leave never resolve it",
    ask=_ask,
    hooks=frozenset({"filter"}),
    needs_more=_needs_more,
    conclude=_conclude,
)
