"""Reads the objects of recorded calls, and keeps their trees for answers."""

from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import from_wire
from quaymaster.scheduler import VirtualClock
from tests.autoscale.cases import Tree
from tests.kit.internals.autoscaling import (
    PodEquivalenceGroup,
    Template,
    TrialCluster,
    with_defaults,
)

__all__ = ["ReadObjects", "trial_of"]


class ReadObjects:
    """Reads pods and nodes, and returns their trees for answers."""

    def __init__(self) -> None:
        self._trees: dict[str, Tree] = {}

    def pod(self, tree: Tree) -> Pod:
        """Read a pod; each has another uid, so that its tree can be returned."""
        pod = from_wire(tree, Pod)
        key = f"{pod.uid or pod.key}#{len(self._trees)}"
        self._trees[key] = tree
        return replace(pod, metadata=replace(pod.metadata, uid=key))

    def pods(self, trees: list[Tree] | None) -> list[Pod]:
        """Read pods."""
        return [self.pod(tree) for tree in trees or ()]

    def tree(self, pod: Pod) -> Tree:
        """Return the tree of a pod."""
        return self._trees[pod.uid]

    def trees(self, pods: list[Pod]) -> list[Tree] | None:
        """Return the trees of pods, or None."""
        return [self.tree(pod) for pod in pods] or None

    def node(self, tree: Tree) -> Node:
        """Read a node."""
        return from_wire(tree, Node)

    def template(self, tree: Tree) -> Template:
        """Read a node with its pods."""
        node = self.node(tree["node"])
        pods = [replace(pod, node_name=node.name) for pod in self.pods(tree["pods"])]
        return Template(node=node, pods=pods)

    def kinds(self, trees: list[Tree]) -> list[PodEquivalenceGroup]:
        """Read groups of equal pods."""
        return [PodEquivalenceGroup(self.pods(tree["Pods"])) for tree in trees]


def trial_of(objects: ReadObjects, trees: list[Tree]) -> TrialCluster:
    """Make a trial with nodes and their pods."""
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    config, registry = with_defaults(None, None)
    trial = TrialCluster(cluster, config, registry)
    for tree in trees:
        template = objects.template(tree)
        trial.add_node(template.node, template.pods)
    return trial
