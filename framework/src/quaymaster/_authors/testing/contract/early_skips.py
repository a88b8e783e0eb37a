"""Looks for pods whose PreFilter skips, although a pod that may come would matter."""

from collections.abc import Iterator
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import filter_all, shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status

__all__ = ["ask_with_imagined_pods"]

_REMEDY: Final = (
    "after a Skip, neither add_pod nor filter is called for the pods that are "
    "nominated to a node, so return Skip only if no other pod can make filter reject a "
    "node"
)


def ask_with_imagined_pods(bench: Bench, cluster: SmallCluster, pod: Pod) -> None:
    """Check that a Skip would hold with a nominated pod.

    Args:
        bench: The plugin and its cluster.
        cluster: The cluster of the bench.
        pod: A pod whose PreFilter returns Skip.
    """
    for node in cluster.nodes:
        for rival in _rivals(cluster, pod):
            with bench.assuming(rival, node.name):
                state = CycleState()
                if isinstance(bench.pre_filter(state, pod), Status):
                    continue
                info = bench.snapshot.get(node.name)
                verdict = filter_all(bench, state, pod, info).get(node.name)
            if isinstance(verdict, Status) and verdict.is_rejected:
                text = (
                    f"Skip, but once pod '{rival.key}' is on node '{node.name}', it "
                    f"does not skip, and filter says {shown(verdict)}: {_REMEDY}"
                )
                fail("pre_filter", text, pod, rival, node)


def _rivals(cluster: SmallCluster, pod: Pod) -> Iterator[Pod]:
    """Yield the waiting pods that may be nominated before a pod."""
    for rival in cluster.pending:
        if rival.uid != pod.uid and rival.priority >= pod.priority:
            yield rival
