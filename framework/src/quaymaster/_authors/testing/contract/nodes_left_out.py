"""Asks whether PostFilter stays away from nodes that no eviction can help.

Upstream, see ``nodesWherePreemptionMightHelp`` in
``pkg/scheduler/framework/preemption/preemption.go`` of Kubernetes v1.36.
"""

from typing import ClassVar

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.companions import evicting_harnesses
from quaymaster._authors.testing.contract.preemptions import listed, start_and_preempt
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._core.contract.hook_marks import hookimpl
from quaymaster._core.contract.results import PreFilterResult
from quaymaster._core.contract.status import Status
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["ask_left_out"]


class LeavesOut:
    """Leaves out a node in PreFilter."""

    reads = ()
    writes = ()
    node_name: ClassVar[str]

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def pre_filter(self, nodes: NodeTable) -> PreFilterResult:
        names = nodes.names_at(nodes.rows)
        return PreFilterResult(frozenset(names) - {self.node_name})


class NeverFits:
    """Rejects a node, whatever leaves it."""

    reads = ()
    writes = ()
    node_name: ClassVar[str]

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        is_left_out = node.name == self.node_name
        return Status.unresolvable("the node is left out") if is_left_out else None


_WAYS: dict[type, str] = {
    LeavesOut: "the PreFilterResult of another plugin leaves it out",
    NeverFits: "another plugin rejects it as UnschedulableAndUnresolvable",
}


def ask_left_out(
    subject: Subject, cluster: SmallCluster, pod: Pod, node_name: str
) -> None:
    """Check that a node is not used once another plugin rules it out.

    Args:
        subject: The plugin.
        cluster: The cluster.
        pod: A pod that may preempt others.
        node_name: The node on which the plugin evicts pods otherwise.
    """
    there = {each.key for each in cluster.pods if each.node_name == node_name}
    for way, reason in _WAYS.items():
        beside = type(way.__name__, (way,), {"node_name": node_name})
        for harness in evicting_harnesses(subject, cluster, PluginHarness, beside):
            with harness:
                nominated, keys = start_and_preempt(harness, cluster, pod)
            wrong = [key for key in keys if key in there]
            subject.exercised["preemptions with a node that is ruled out"] += 1
            if not wrong and nominated != node_name:
                continue
            what = f"evicts {listed(wrong)} on" if wrong else "nominates"
            text = (
                f"{what} node '{node_name}' although {reason}: no eviction makes the "
                "pod fit there, so look for victims only on nodes with "
                "Code.UNSCHEDULABLE, as in statuses.rows_with(Code.UNSCHEDULABLE)"
            )
            fail("post_filter", text, pod, cluster.nodes, cluster.pods)
