"""GPU sharing: which nodes have the GPUs that a pod wants, and which of them it gets.

Mirrors ``Open-Gpu-Share`` (``pkg/simulator/plugin/open_gpu_share.go``).
"""

from collections.abc import Hashable, Sequence
from typing import Final

from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)

from quaymaster_openb.gpus import INDEX, MODEL, GpuRequest, Gpus

__all__ = ["GpuShare"]

_REJECTED: Final = Status.unschedulable("node(s) had too few GPUs with enough left")


class GpuShare:
    """Filters by what GPUs have left, and gives a pod the tightest ones that suffice.

    A subclass chooses otherwise by `choose`.

    Args:
        args: None.
        handle: The framework.
    """

    scope = Scope.NODE
    reads = ()

    def __init__(self, args: None, handle: Handle) -> None:
        self.handle = handle
        self.gpus = Gpus.of(handle)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        wanted = GpuRequest.of(pod)
        return None if wanted is None else wanted

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return Status.skip() if GpuRequest.of(pod) is None else None

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        wanted = GpuRequest.of(pod)
        if wanted is None:
            return None
        if wanted.models and node.labels.get(MODEL) not in wanted.models:
            return _REJECTED
        enough = sum(left >= wanted.milli for left in self.gpus.on(node))
        return None if enough >= wanted.count else _REJECTED

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        wanted = GpuRequest.of(pod)
        if wanted is None:
            return None
        enough = (self.gpus.left.of(nodes)[rows] >= wanted.milli).sum(axis=1)
        rejected = enough < wanted.count
        if wanted.models:
            rejected |= ~nodes.label(MODEL).is_in(wanted.models, rows)
        return NodeVerdicts.reject_where(rejected, _REJECTED)

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        wanted, node = GpuRequest.of(pod), self.handle.snapshot.get(node_name)
        if wanted is None or node is None:
            return None
        # The pod is on the node already, but has no GPUs there.
        chosen = self.choose(pod, wanted, node, self.gpus.on(node))
        if len(chosen) < wanted.count:
            return _REJECTED
        state.annotate(INDEX, "-".join(map(str, chosen)))
        return None

    @hookimpl
    def unreserve(self) -> None:
        """Nothing: the choice goes with the node."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        changes = Change.ADD | Change.UPDATE_NODE_LABEL
        return [on_pod(Change.DELETE | Change.UPDATE), on_node(changes)]

    def choose(
        self, pod: Pod, wanted: GpuRequest, node: NodeInfo, left: Sequence[int]
    ) -> Sequence[int]:
        """Choose the GPUs of a pod: the tightest that suffice, of equals the first.

        Args:
            pod: The pod.
            wanted: What it wants.
            node: Its node, which has it already.
            left: What each GPU had left before.

        Returns:
            The numbers of the GPUs; too few if there are not enough.
        """
        suiting = [gpu for gpu, rest in enumerate(left) if rest >= wanted.milli]
        return sorted(suiting, key=left.__getitem__)[: wanted.count]
