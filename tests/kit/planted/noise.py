"""A filter of noisy nodes, and mistakes in the codes of its verdicts."""

from collections.abc import Sequence

from quaymaster import (
    Handle,
    Node,
    NodeInfo,
    Pod,
    PodUse,
    Status,
    hookimpl,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["NOISE_MISTAKES", "OWN", "NoNeighbours", "Noise", "RareNeighbours"]

LOUD = "example.com/loud"
NO = Status.unresolvable("node(s) were loud")
MAYBE = Status.unschedulable("node(s) were loud")


class Noise(Plugin):
    """Correct: no pod runs on a loud node, whatever else runs there."""

    verdict = NO

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return self.verdict if LOUD in node.labels else None


class NoNeighbours(Plugin):
    """Correct: a pod with the label needs a node without others of them."""

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_loud = LOUD in pod.labels
        return MAYBE if is_loud and any(map(_is_loud, node.pods.values())) else None


class RareNeighbours(Plugin):
    """Correct: counts its pods by an index; they are never many on these clusters."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.on_nodes = handle.informers.index(Pod, lambda pod: pod.node_name or None)

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        room = 0 if LOUD in node.labels else 100
        return MAYBE if len(self.on_nodes.get(node.name)) >= room else None


class CallsItSchedulable(Noise):
    verdict = MAYBE


class DeclaresThatNoPodMatters(CallsItSchedulable):
    pod_use = PodUse.NONE


class DependsOnTheWaitingPod(Plugin):
    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_odd = (LOUD in pod.labels) != (LOUD in node.labels)
        return Status.unschedulable("node(s) were of another kind") if is_odd else None


class ReadsNodesOfTheInformers(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        stored = self.handle.informers.get(Node, node.name)
        is_loud = stored is not None and LOUD in stored.labels
        return MAYBE if is_loud else None


def _is_loud(pod: Pod) -> bool:
    return LOUD in pod.labels


LABEL = {"labels": {LOUD: "yes"}}
OWN = clusters(pods=pods(LABEL), nodes=nodes(LABEL))
NOISE_MISTAKES: Sequence[Mistake] = (
    Mistake(CallsItSchedulable, ["unresolvable"], OWN),
    Mistake(DeclaresThatNoPodMatters, ["unresolvable"], OWN),
    Mistake(DependsOnTheWaitingPod, ["unresolvable"], OWN),
    Mistake(ReadsNodesOfTheInformers, ["unresolvable"], OWN),
)
