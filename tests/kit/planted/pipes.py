"""A plugin with two reasons, of which its clusters show one, and mistakes in its twin.

No drawn pod needs more than a whole node has.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "PIPE_MISTAKES", "Pipes"]

MBPS = "example.com/mbps"
STATUSES = {
    1: Status.unresolvable("node(s) had no pipe for the pod"),
    2: Status.unschedulable("node(s) had too little bandwidth left"),
}


def _mbps(annotations: dict[str, str]) -> int:
    text = annotations.get(MBPS, "")
    return int(text) if text.isdecimal() and len(text) <= 9 else 0


class Pipes(Plugin):
    """Correct: pods share the bandwidth of their node."""

    reads = ()
    contract_opt_outs: ClassVar = {"batch work": "short clusters only"}

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_ANNOTATION
        return [on_node(updates), on_pod(Change.DELETE | Change.UPDATE)]

    def code(self, pod: Pod, node: NodeInfo) -> int:
        """Return the reason for which a node is rejected, or 0."""
        need = _mbps(dict(pod.annotations))
        total = _mbps(dict(node.node.metadata.annotations))
        if need > total:
            return 1
        used = sum(_mbps(dict(other.annotations)) for other in node.pods.values())
        return 2 if need and used + need > total else 0

    def twin_code(self, pod: Pod, node: NodeInfo) -> int:
        """Return the same for the twin."""
        return self.code(pod, node)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return STATUSES.get(self.code(pod, node))

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        codes = [self.twin_code(pod, info) for info in nodes.infos_at(rows)]
        return NodeVerdicts(np.array(codes, dtype=np.int64), STATUSES.__getitem__)


class TwinKnowsOneReason(Pipes):
    def twin_code(self, pod: Pod, node: NodeInfo) -> int:
        return 2 if self.code(pod, node) else 0


class TwinHasALimit(Pipes):
    def twin_code(self, pod: Pod, node: NodeInfo) -> int:
        return 0 if _mbps(dict(pod.annotations)) > 500 else self.code(pod, node)


class TwinRejectsPodsWithoutNeeds(Pipes):
    def twin_code(self, pod: Pod, node: NodeInfo) -> int:
        need = pod.annotations.get(MBPS)
        return 2 if need == "0" else self.code(pod, node)


OWN = clusters(
    nodes=nodes(*({"annotations": {MBPS: text}} for text in ("20", "35"))).filter(
        lambda node: MBPS in node.metadata.annotations
    ),
    pods=pods(*({"annotations": {MBPS: text}} for text in ("10", "20"))),
)
PIPE_MISTAKES: Sequence[Mistake] = (
    Mistake(TwinKnowsOneReason, ["twin"], OWN),
    Mistake(TwinHasALimit, ["twin"], OWN),
    Mistake(TwinRejectsPodsWithoutNeeds, ["twin"], OWN),
)
