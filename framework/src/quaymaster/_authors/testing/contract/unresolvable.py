"""A check: no pods that leave a node resolve what is called unresolvable."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, is_open, shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.status import Code, Status

__all__ = ["UNRESOLVABLE"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    """Remove the pods of each node that is rejected with this code.

    Preemption does not consider such nodes, see ``nodesWherePreemptionMightHelp`` in
    ``pkg/scheduler/framework/preemption/preemption.go``.
    """
    for pod in cluster.pending:
        rejected = answers(Bench(subject, cluster), pod).rejected
        for name, status in rejected.items():
            if isinstance(status, Status) and status.code is _CODE:
                _empty(Bench(subject, cluster), cluster, pod, name, status)


def _empty(
    bench: Bench, cluster: SmallCluster, pod: Pod, name: str, status: Status
) -> None:
    leaving = [other for other in cluster.pods if other.node_name == name]
    for other in leaving:
        bench.remove(other)
    actual = answers(bench, pod)
    if leaving and is_open(actual.pre_filter) and name not in actual.rejected:
        text = (
            f"{shown(status)} for node '{name}', expected Unschedulable: the pod fits "
            "once other pods have left the node, so preemption must consider it"
        )
        nodes = [node for node in cluster.nodes if node.name == name]
        fail("filter", text, pod, leaving, nodes)


_CODE: Final = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
UNRESOLVABLE: Final = Check(
    name="unresolvable",
    promise="pods that leave a node resolve no verdict that is called unresolvable",
    ask=_ask,
    hooks=frozenset({"filter"}),
)
